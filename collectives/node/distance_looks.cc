#include "collectives/node/distance_looks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace hycoll {
namespace {

/// Hosts have been seen to move cores for 0.3 to 1 s. A look takes 3 to 15 us.
constexpr std::chrono::milliseconds kInterval{50};
/// The first party reads the clock, if it makes calls, so many times or more between two looks.
constexpr int kClocksPerInterval = 8;

/// The last call for a look, of all communicators and teams in which a party of this process is the
/// first one. Orders nothing: two that call at the same time do no harm.
std::atomic<std::chrono::steady_clock::time_point>& last_call_for_a_look() {
  static std::atomic<std::chrono::steady_clock::time_point> time{std::chrono::steady_clock::now()};
  return time;
}

/// As a notice has it: 0 stays 0, nothing else becomes 0.
std::uint16_t whole_ns(double handoff_ns) {
  constexpr double kMost = std::numeric_limits<std::uint16_t>::max();
  return static_cast<std::uint16_t>(std::clamp(std::ceil(handoff_ns), 0.0, kMost));
}

}  // namespace

DistanceLooks::DistanceLooks(NodeMemory& memory, std::span<const int> workers, int party,
                             bool is_known, Probe probe, Agreed agreed)
    : board_(memory, workers, party),
      is_first_(party == 0),
      is_soon_(!is_known),
      probe_(std::move(probe)),
      agreed_(std::move(agreed)),
      interval_(kInterval) {
  last_call_for_a_look();
}

void DistanceLooks::follow(const DistanceNotice& notice) {
  if (notice.kind == DistanceNotice::Kind::look) {
    return agreement_.answer(board_, notice, whole_ns(probe_()));
  }
  // All have answered the look, so nobody uses it.
  reset(board_.own_ball());
  if (notice.handoff_ns > 0) agreed_(notice.handoff_ns);
  agreement_.answer(board_, notice);
}

void DistanceLooks::lead(CallNumber run, Leaving leaving) {
  if (!agreement_.lead(board_, run, leaving, [this] { return is_time(); })) return;
  is_soon_ = false;
  last_call_for_a_look().store(clock_, std::memory_order_relaxed);
}

bool DistanceLooks::is_time() {
  if (!is_soon_ && ++calls_ < calls_per_clock_) return false;
  calls_ = 0;
  const Clock::time_point now = Clock::now();
  adapt_calls_per_clock(now);
  return is_soon_ || now - last_call_for_a_look().load(std::memory_order_relaxed) >= interval_;
}

void DistanceLooks::adapt_calls_per_clock(Clock::time_point now) {
  const bool was_long = now - std::exchange(clock_, now) > interval_ / kClocksPerInterval;
  calls_per_clock_ = was_long ? std::max(calls_per_clock_ / 2, 1u)
                              : std::min(calls_per_clock_ * 2, kMostCallsPerClock);
}

}  // namespace hycoll
