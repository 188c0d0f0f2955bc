#include "threading/memory/waiter.h"

#include <algorithm>
#include <ctime>
#include <thread>
#include <utility>

namespace hycoll {
namespace {

/// Threads that only yield to each other can keep a third one off their core for seconds: Linux
/// 6.18 puts a thread back by a whole slice for each yield. Far above the time of a short call.
constexpr std::chrono::milliseconds kYieldingTime{2};
/// Yielders can even keep the kernel's own threads off their core for minutes, unless one of them
/// sleeps. So in long waits a thread with a core of its own does so, too, for a hundredth of the
/// time.
constexpr std::chrono::milliseconds kNapInterval{5};
constexpr std::chrono::milliseconds kTimeToFirstNap{100};

/// How long a wait that sleeps has yielded before: far above what falling asleep and waking take.
constexpr std::chrono::milliseconds kTimeToSleep{1};
/// The kernel adds some 50 us.
constexpr std::chrono::microseconds kShortestSleep{150};
/// Whatever a look takes: MPI's messages, failures and the clock must not wait for longer.
constexpr std::chrono::milliseconds kLongestSleep{10};

/// What the looks of a patient wait take at a flag.
constexpr std::chrono::microseconds kLookingTime{20};
/// Looks that take longer on average are calls of the system's; those at a network's queues in
/// memory take some hundred nanoseconds.
constexpr std::chrono::nanoseconds kSlowLook{400};

}  // namespace

std::chrono::nanoseconds SleepLength::next(int times) noexcept {
  using std::chrono::nanoseconds;
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  const nanoseconds used = std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
  const nanoseconds before = std::exchange(used_, used);
  const nanoseconds length = before == nanoseconds{} ? nanoseconds{} : times * (used - before);
  return std::clamp<nanoseconds>(length, kShortestSleep, kLongestSleep);
}

bool Waiter::looks_slowly() noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (looking_since_ == std::chrono::steady_clock::time_point{}) looking_since_ = now;
  const auto time = now - looking_since_;
  if (time <= kLookingTime) return false;
  if (time > (turns_ - kTurnsBetweenClocks) * kSlowLook) has_looked_slowly_ = true;
  return true;
}

void Waiter::give_way(Bell* bell) noexcept {
  const auto time = slow_time();
  switch (policy_.rest) {
    case WaitPolicy::Rest::seldom:
      if (time < std::max<std::chrono::steady_clock::duration>(next_nap_, kTimeToFirstNap)) break;
      next_nap_ = time + kNapInterval;
      return nap();
    case WaitPolicy::Rest::naps:
      if (time < kYieldingTime) break;
      return nap();
    case WaitPolicy::Rest::sleep:
      if (time < kTimeToSleep) break;
      return sleep_at(bell);
  }
  std::this_thread::yield();
}

void Waiter::sleep_at(Bell* bell) noexcept {
  if (bell != bell_) {
    stop_listening();
    bell_ = bell;
    if (bell != nullptr) bell->listen();
  } else if (bell != nullptr) {
    bell->sleep(heard_, sleep_length_.next(SleepLength::kWoken));
  }
  if (bell == nullptr) {
    return std::this_thread::sleep_for(sleep_length_.next(SleepLength::kUnwoken));
  }
  heard_ = bell->rings();
}

void Waiter::nap() noexcept { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

std::chrono::steady_clock::duration Waiter::slow_time() noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (slow_since_ == std::chrono::steady_clock::time_point{}) slow_since_ = now;
  return now - slow_since_;
}

bool Waiter::has_passed(std::chrono::milliseconds interval) noexcept {
  if (interval.count() == 0) return false;
  const std::chrono::steady_clock::duration time = slow_time();
  if (next_mark_.count() == 0) next_mark_ = interval;
  if (time < next_mark_) return false;
  while (next_mark_ <= time) next_mark_ *= 2;
  return true;
}

}  // namespace hycoll
