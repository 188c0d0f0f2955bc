#ifndef HYCOLL_COLLECTIVES_CALLS_CHANNELS_H_
#define HYCOLL_COLLECTIVES_CALLS_CHANNELS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
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

/// One process's part of a communicator's channels. Which channel a call gets all processes agree
/// when they set it up, in the same order; each gives it back when it likes. Channels that nobody
/// uses wait for the next call; those beyond a few are given up. Thread-safe, but for take(), which
/// one thread at a time calls.
class Channels {
 public:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostIdle = 8;

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

  Channels() = default;
  Channels(const Channels&) = delete;
  Channels& operator=(const Channels&) = delete;

  /// A channel that no other call uses on any process: an idle one, or else a new one, if all
  /// processes can make it. `may_make`: whether this one would. Collective; throws MemoryRefused
  /// on all processes or on none.
  ChannelUse take(bool may_make, const Agree& agree, const Make& make);

 private:
  friend class ChannelUse;
  struct Place {
    std::unique_ptr<Channel> channel;
    bool is_used = false;
  };
  class Agreement;

  Offer offer(bool may_make);
  /// Makes a channel there, on all processes or on none; returns whether it has.
  bool make_at(std::size_t place, const Agree& agree, const Make& make);
  void give_back(std::size_t place, bool is_spoilt) noexcept;
  /// Gives up idle channels beyond kMostIdle.
  void trim() noexcept;
  /// Takes one of these out; null if there is none, or it has been offered.
  std::unique_ptr<Channel> surplus() noexcept;

  std::mutex mutex_;
  std::vector<Place> places_ = std::vector<Place>(kMost);  // guarded by mutex_
  bool is_agreeing_ = false;  // guarded by mutex_: what has been offered stays
  // Of new channels. The same on all processes.
  std::uint32_t refused_ = 0;    // since the last attempt
  std::uint32_t to_refuse_ = 0;  // before the next one
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_CHANNELS_H_
