#include "threading/memory/waiter.h"

#include <algorithm>
#include <thread>

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

/// What the looks of a patient wait take at a flag.
constexpr std::chrono::microseconds kLookingTime{20};
/// Looks that take longer on average are calls of the system's; those at a network's queues in
/// memory take some hundred nanoseconds.
constexpr std::chrono::nanoseconds kSlowLook{400};

}  // namespace

bool Waiter::looks_slowly() noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (looking_since_ == std::chrono::steady_clock::time_point{}) looking_since_ = now;
  const auto time = now - looking_since_;
  if (time <= kLookingTime) return false;
  if (time > (turns_ - kTurnsBetweenClocks) * kSlowLook) has_looked_slowly_ = true;
  return true;
}

void Waiter::give_way() noexcept {
  const auto time = slow_time();
  if (time < (policy_.naps
                  ? kYieldingTime
                  : std::max<std::chrono::steady_clock::duration>(next_nap_, kTimeToFirstNap))) {
    std::this_thread::yield();
    return;
  }
  nap();
  next_nap_ = time + kNapInterval;
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
