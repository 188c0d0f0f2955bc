#ifndef HYCOLL_COLLECTIVES_CALLS_CHANNELS_H_
#define HYCOLL_COLLECTIVES_CALLS_CHANNELS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace hycoll {

class Caller;
class Channels;

/// A row of calls of its own over the processes of a communicator: with its own numbers, memory and
/// lanes, so that its calls need no order in common with the communicator's other calls.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual Caller& caller() = 0;
};

/// The use of a channel by one call, until the end of this object. Move-only. Must not outlive the
/// channels.
class ChannelUse {
 public:
  ChannelUse() noexcept = default;
  ChannelUse(ChannelUse&& other) noexcept
      : channels_(std::exchange(other.channels_, nullptr)),
        place_(other.place_),
        is_spoilt_(other.is_spoilt_) {}
  ChannelUse& operator=(ChannelUse&& other) noexcept {
    std::swap(channels_, other.channels_);
    std::swap(place_, other.place_);
    std::swap(is_spoilt_, other.is_spoilt_);
    return *this;
  }
  ~ChannelUse();

  /// Requires a channel.
  Channel& channel() const;

  /// This process may have made fewer calls than others on the channel: no other call uses it.
  void spoil() noexcept { is_spoilt_ = true; }

 private:
  friend class Channels;
  ChannelUse(Channels& channels, std::size_t place) noexcept
      : channels_(&channels), place_(place) {}

  Channels* channels_ = nullptr;
  std::size_t place_ = 0;
  bool is_spoilt_ = false;
};

/// The channels of a process that no call uses: a few of all communicators wait for the next calls,
/// and the others are given up, first those of the communicators that have not set calls up for the
/// longest time. Thread-safe.
class IdleChannels {
 public:
  static constexpr std::size_t kMost = 8;

  IdleChannels() = default;
  IdleChannels(const IdleChannels&) = delete;
  IdleChannels& operator=(const IdleChannels&) = delete;

 private:
  friend class Channels;
  /// Whose calls are set up now.
  void put_last(Channels& channels) noexcept;
  /// Returns when none of its channels is being given up.
  void remove(Channels& channels) noexcept;
  /// Gives up those beyond so many.
  void trim(std::size_t most = kMost) noexcept;
  /// Takes one out that is to be given up, and notes that in its user.
  std::unique_ptr<Channel> take_one(Channels*& user) noexcept;
  void unlink(Channels& channels) noexcept;  // requires mutex_

  std::mutex mutex_;
  Channels* first_ = nullptr;          // guarded by mutex_: a row of users, which takes no memory
  Channels* last_ = nullptr;           // guarded by mutex_
  std::atomic<std::size_t> count_{0};  // orders nothing
};

/// One process's part of a communicator's channels. Which channel a call gets all processes agree
/// when they set it up, in the same order; each gives it back when it likes. Thread-safe, but for
/// take(), which one thread at a time calls.
class Channels {
 public:
  static constexpr std::size_t kMost = 64;

  /// What a process has for the next call, a bit for each place. All have what is set in all of
  /// their offers.
  struct Offer {
    std::uint64_t idle = 0;    ///< Channels that it does not use.
    std::uint64_t vacant = 0;  ///< Places where there may be a new one.
  };

  /// Returns what is set on all processes. Collective.
  using Agree = std::function<Offer(const Offer&)>;
  /// Makes a channel. Collective; throws where it cannot.
  using Make = std::function<std::unique_ptr<Channel>()>;

  /// `idle`: the process's; outlives this object.
  explicit Channels(IdleChannels& idle) : idle_(idle) {}
  ~Channels();
  Channels(const Channels&) = delete;
  Channels& operator=(const Channels&) = delete;

  /// A channel that no other call uses on any process: an idle one, or else a new one, if all
  /// processes can make it, at the latest when they have given up what is idle; none, on all
  /// processes, if not. `may_make`: whether this one would. Collective.
  std::optional<ChannelUse> take(bool may_make, const Agree& agree, const Make& make);

 private:
  friend class ChannelUse;
  friend class IdleChannels;
  struct Place {
    std::unique_ptr<Channel> channel;
    bool is_used = false;
  };
  class Agreement;

  enum class Made { by_all, not_yet, never };

  Offer offer(bool may_make);
  ChannelUse use_idle(std::size_t place);
  /// Makes a channel there, on all processes or on none; tells whether it has, or may now that a
  /// process has given up idle ones.
  Made make_at(std::size_t place, const Agree& agree, const Make& make);
  void give_back(std::size_t place, bool is_spoilt) noexcept;
  /// Takes the last idle one out; null if there is none, or what is idle has been offered.
  std::unique_ptr<Channel> last_idle() noexcept;

  IdleChannels& idle_;
  bool is_listed_ = false;              // there
  Channels* previous_ = nullptr;        // guarded by its mutex_: who is there before this one
  Channels* next_ = nullptr;            // and after it
  std::atomic<int> being_given_up_{0};  // channels that it has taken out
  std::mutex mutex_;
  std::vector<Place> places_ = std::vector<Place>(kMost);  // guarded by mutex_
  bool is_agreeing_ = false;  // guarded by mutex_: what has been offered stays
  // Of new channels. The same on all processes.
  std::uint32_t refused_ = 0;    // since the last attempt
  std::uint32_t to_refuse_ = 0;  // before the next one
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_CHANNELS_H_
