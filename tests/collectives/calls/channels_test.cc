// Which channel a persistent call gets: processes, here threads, set calls up in one order, and
// give channels back each in an order of its own.

#include "collectives/calls/channels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/errors.h"

namespace hycoll {
namespace {

/// What all processes say, and hear of each other.
class Agreements {
 public:
  explicit Agreements(int process_count) : barrier_(process_count, Next{this}) {}

  /// The agreement of this number, from 0 on.
  Channels::Offer agree(std::size_t number, const Channels::Offer& own) {
    idle_.fetch_and(own.idle);
    vacant_.fetch_and(own.vacant);
    barrier_.arrive_and_wait();
    return agreed_[number % 2];  // the one after the next waits for all
  }

 private:
  struct Next {
    Agreements* agreements;
    void operator()() noexcept {
      agreements->agreed_[agreements->count_++ % 2] = {
          .idle = agreements->idle_.exchange(~std::uint64_t{0}),
          .vacant = agreements->vacant_.exchange(~std::uint64_t{0})};
    }
  };

  std::atomic<std::uint64_t> idle_{~std::uint64_t{0}};
  std::atomic<std::uint64_t> vacant_{~std::uint64_t{0}};
  std::array<Channels::Offer, 2> agreed_;
  std::size_t count_ = 0;
  std::barrier<Next> barrier_;
};

/// Knows by which set-up it was made, and how many of its process there are.
class Numbered final : public Channel {
 public:
  Numbered(int set_up, int& count) : set_up_(set_up), count_(count) { ++count_; }
  ~Numbered() override { --count_; }
  Caller& caller() override { std::abort(); }
  int set_up() const { return set_up_; }
  void spoil() { is_spoilt_ = true; }
  bool is_spoilt() const { return is_spoilt_; }

 private:
  int set_up_;
  int& count_;
  bool is_spoilt_ = false;
};

/// One process: what it sets up, gives back, and finds wrong.
class Process {
 public:
  Process(int index, Agreements& agreements)
      : agreements_(agreements), own_(100U + static_cast<unsigned>(index)) {}

  /// Sets up calls, of which so many live at most; `fails(set_up)`: no channel can be made here.
  template <class Fails>
  void play(int set_ups, std::size_t most_live, const Fails& fails) {
    for (int set_up = 0; set_up < set_ups; ++set_up) {
      std::optional<ChannelUse> use = taken(set_up, fails);
      given_.push_back(use ? number_of(*use) : -1);
      wrong_ += use && channel_of(*use).is_spoilt() ? 1 : 0;
      if (use) live_.push_back(std::move(*use));
      // First rather fewer than are set up, then rather more.
      std::size_t given_back = own_() % ((set_up / 200) % 2 == 0 ? 2 : 4);
      if (live_.size() > most_live) ++given_back;
      for (; given_back > 0 && !live_.empty(); --given_back) give_one_back();
      wrong_ += are_few_and_different() ? 0 : 1;
    }
    while (!live_.empty()) give_one_back();
    wrong_ += count_ > static_cast<int>(IdleChannels::kMost) ? 1 : 0;
  }

  const std::vector<int>& given() const { return given_; }
  int wrong() const { return wrong_; }

 private:
  template <class Fails>
  std::optional<ChannelUse> taken(int set_up, const Fails& fails) {
    return channels_.take(
        true, [this](const Channels::Offer& own) { return agreements_.agree(agreement_++, own); },
        [&]() -> std::unique_ptr<Channel> {
          if (fails(set_up)) throw Error(ErrorKind::environment, "no room");
          return std::make_unique<Numbered>(set_up, count_);
        });
  }

  static Numbered& channel_of(const ChannelUse& use) {
    return static_cast<Numbered&>(use.channel());
  }
  static int number_of(const ChannelUse& use) { return channel_of(use).set_up(); }

  void give_one_back() {
    const std::size_t index = own_() % live_.size();
    if (own_() % 16 == 0) {
      live_[index].spoil();
      channel_of(live_[index]).spoil();
    }
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  bool are_few_and_different() const {
    std::set<int> numbers;
    for (const ChannelUse& use : live_) numbers.insert(number_of(use));
    return numbers.size() == live_.size() &&
           static_cast<std::size_t>(count_) <= live_.size() + IdleChannels::kMost;
  }

  Agreements& agreements_;
  std::size_t agreement_ = 0;  // the number of the next one
  std::mt19937 own_;
  int count_ = 0;  // of channels
  IdleChannels idle_;
  Channels channels_{idle_};
  std::vector<ChannelUse> live_;
  std::vector<int> given_;  // by which set-up the channel was made that each has got; -1: none
  int wrong_ = 0;
};

template <class Fails>
std::vector<std::unique_ptr<Process>> played(int set_ups, std::size_t most_live,
                                             const Fails& fails) {
  constexpr int kProcesses = 3;
  Agreements agreements(kProcesses);
  std::vector<std::unique_ptr<Process>> processes;
  for (int p = 0; p < kProcesses; ++p)
    processes.push_back(std::make_unique<Process>(p, agreements));
  std::vector<std::thread> threads;
  for (int p = 0; p < kProcesses; ++p) {
    threads.emplace_back([&, p] {
      processes[static_cast<std::size_t>(p)]->play(set_ups, most_live,
                                                   [&](int set_up) { return fails(p, set_up); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& process : processes) {
    CHECK(process->wrong() == 0);
    CHECK(process->given() == processes.front()->given());
  }
  return processes;
}

TEST_CASE("each call that lives has a channel that all processes made together") {
  const auto processes = played(600, 20, [](int, int) { return false; });
  CHECK(std::ranges::count(processes.front()->given(), -1) == 0);
  const std::vector<int>& given = processes.front()->given();
  CHECK(std::set<int>(given.begin(), given.end()).size() < given.size());
}

TEST_CASE("what one process cannot make, all hear, and later calls get channels again") {
  const auto processes =
      played(600, 20, [](int process, int set_up) { return process == 1 && set_up % 300 < 60; });
  const std::vector<int>& given = processes.front()->given();
  CHECK(std::ranges::count(given, -1) > 0);
  CHECK(given.back() >= 0);
}

TEST_CASE("what is idle makes room for a channel that could not be made") {
  // The first process has room for so many, and channels of another communicator are idle.
  constexpr int kRoom = 4;
  IdleChannels idle;
  int count = 0;
  std::size_t agreements = 0;
  const auto agree = [&](const Channels::Offer& own) {
    ++agreements;
    return own;
  };
  const auto make = [&]() -> std::unique_ptr<Channel> {
    if (count == kRoom) throw Error(ErrorKind::environment, "no room");
    return std::make_unique<Numbered>(0, count);
  };
  Channels other(idle);
  Channels channels(idle);
  std::vector<ChannelUse> live;
  for (int c = 0; c < kRoom; ++c) live.push_back(other.take(true, agree, make).value());
  CHECK(!channels.take(true, agree, make).has_value());
  live.resize(1);
  std::optional<ChannelUse> refused = channels.take(true, agree, make);  // once, without a try
  CHECK(!refused.has_value());
  for (int c = 1; c < kRoom; ++c) {
    live.push_back(channels.take(true, agree, make).value());
    CHECK(count <= kRoom);
  }
  agreements = 0;
  CHECK(!channels.take(true, agree, make).has_value());
  CHECK(agreements == 2);  // nothing is idle: it tries once
}

TEST_CASE("more calls than there are places are refused on all processes") {
  const auto processes = played(200, 200, [](int, int) { return false; });
  CHECK(std::ranges::count(processes.front()->given(), -1) > 0);
}

}  // namespace
}  // namespace hycoll
