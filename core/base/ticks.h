#ifndef HYCOLL_CORE_BASE_TICKS_H_
#define HYCOLL_CORE_BASE_TICKS_H_

#include <chrono>
#include <cstdint>

namespace hycoll {

/// A clock that takes some nanoseconds to read, and ticks at a constant rate which it does not tell
/// (TickRate does): the processor's counter of time stamps, where there is one.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// The steady clock as a number, which processes of a host have in common.
inline std::int64_t nanoseconds(
    std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now()) noexcept {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

/// Both clocks at one instant. Whoever reads them may lose the core in between: of some readings
/// the shortest one is taken.
struct ClockReading {
  std::uint64_t ticks = 0;
  std::chrono::steady_clock::time_point time;

  static ClockReading now() noexcept {
    constexpr int kReadings = 8;
    ClockReading best;
    std::uint64_t shortest = UINT64_MAX;
    for (int reading = 0; reading < kReadings; ++reading) {
      const std::uint64_t before = hycoll::ticks();
      const auto time = std::chrono::steady_clock::now();
      const std::uint64_t took = hycoll::ticks() - before;
      if (took >= shortest) continue;
      shortest = took;
      best = {.ticks = before + took / 2, .time = time};
    }
    return best;
  }
};

/// How long a tick is: the longer ago the beginning, the better it is known.
class TickRate {
 public:
  double seconds_per_tick() const noexcept {
    const ClockReading now = ClockReading::now();
    const std::chrono::duration<double> elapsed = now.time - begin_.time;
    return elapsed.count() / static_cast<double>(now.ticks - begin_.ticks);
  }

  const ClockReading& begin() const noexcept { return begin_; }

 private:
  ClockReading begin_ = ClockReading::now();
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_TICKS_H_
