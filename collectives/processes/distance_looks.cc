#include "collectives/processes/distance_looks.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "collectives/processes/node_distance.h"

namespace hycoll {
namespace {

using Clock = std::chrono::steady_clock;

/// Hosts have been seen to move cores for 0.3 to 1 s. A look takes 3 to 15 us.
constexpr std::chrono::milliseconds kInterval{50};
/// Within which the first party reads the clock, if it makes calls.
constexpr Clock::duration kClockInterval = kInterval / 8;

/// Of all communicators and teams in which a party of this process is the first one.
std::atomic<Clock::rep>& last_announcement() {
  static std::atomic<Clock::rep> time{Clock::now().time_since_epoch().count()};
  return time;
}

}  // namespace

DistanceLooks::DistanceLooks(NodeMemory& memory, std::span<const int> workers, int party,
                             bool is_known, Probe probe, Agreed agreed)
    : memory_(memory),
      workers_(workers.begin(), workers.end()),
      worker_(workers[static_cast<std::size_t>(party)]),
      is_first_(party == 0),
      is_soon_(!is_known),
      probe_(std::move(probe)),
      agreed_(std::move(agreed)) {
  last_announcement();
}

void DistanceLooks::make_ready() {
  // The partner has left the last look: it has begun the call that came then, or was late, in which
  // case it finds nobody.
  reset(memory_.handoff_ball(worker_));
  is_used_ = false;
}

void DistanceLooks::change(const AgreedHandoff& agreed) {
  changed_ = agreed.first_run;
  agreed_(agreed.handoff_ns);
}

CallNumber DistanceLooks::known_before(CallNumber run, Leaving leaving) noexcept {
  // Whoever starts a run knows what the others have written before the one that lies kMaximumLead +
  // 2 back; and before the last one if all had entered that before it was left.
  return run + (leaving == Leaving::ahead ? kMaximumLead + 4 : 1);
}

void DistanceLooks::look(CallNumber announced, CallNumber all_have_seen) {
  latest_ = announced;
  is_used_ = true;
  memory_.set_seen_handoff(worker_, probe_());
  seen_ = all_have_seen;
}

void DistanceLooks::lead(CallNumber run, Leaving leaving) {
  if (seen_ != 0) {
    if (run >= seen_) decide(known_before(run, leaving));
  } else if (is_soon_ || ++calls_ >= calls_per_clock_) {
    calls_ = 0;
    announce(known_before(run, leaving));
  }
}

void DistanceLooks::decide(CallNumber first_run) {
  seen_ = 0;
  double most_ns = 0;
  for (const int worker : workers_) most_ns = std::max(most_ns, memory_.seen_handoff(worker));
  // All have made the change before this one: it lay before the look.
  if (most_ns > 0) memory_.agree_on_handoff({first_run, most_ns});
}

void DistanceLooks::announce(CallNumber first_run) {
  // Orders nothing but itself.
  std::atomic<Clock::rep>& last = last_announcement();
  Clock::rep before = last.load(std::memory_order_relaxed);
  const Clock::duration now = Clock::now().time_since_epoch();
  adapt_calls_per_clock(now.count());
  if (!is_soon_ && now - Clock::duration(before) < kInterval) return;
  if (!last.compare_exchange_strong(before, now.count(), std::memory_order_relaxed)) return;
  is_soon_ = false;
  memory_.announce_look(first_run);
}

void DistanceLooks::adapt_calls_per_clock(std::int64_t now) {
  const bool was_long = Clock::duration(now - std::exchange(clock_, now)) > kClockInterval;
  calls_per_clock_ = was_long ? std::max(calls_per_clock_ / 2, 1u)
                              : std::min(calls_per_clock_ * 2, kMostCallsPerClock);
}

}  // namespace hycoll
