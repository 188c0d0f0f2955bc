#include "threading/waiter.h"

#include <thread>

namespace hycoll {

void Waiter::give_way() noexcept { std::this_thread::yield(); }

void Waiter::nap() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

std::chrono::steady_clock::duration Waiter::slow_time() noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (slow_since_ == std::chrono::steady_clock::time_point{}) slow_since_ = now;
  return now - slow_since_;
}

}  // namespace hycoll
