#include "collectives/processes/distance_looks.h"

#include <atomic>
#include <chrono>
#include <utility>

#include "collectives/processes/node_distance.h"

namespace hycoll {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kInterval{1};

/// Whoever starts a run knows what the first process has written before the one that lies
/// kMaximumLead + 2 back.
constexpr CallNumber kRunsAhead = kMaximumLead + 10;

/// Of all communicators in which this process is the first one.
std::atomic<Clock::rep>& last_announcement() {
  static std::atomic<Clock::rep> time{Clock::now().time_since_epoch().count()};
  return time;
}

}  // namespace

DistanceLooks::DistanceLooks(NodeMemory& memory, int process, int worker, Probe probe)
    : memory_(memory), is_first_(process == 0), worker_(worker), probe_(std::move(probe)) {
  last_announcement();
}

void DistanceLooks::make_ready() {
  // The partner has left the last look: it has begun the call that came then, or was late, in which
  // case it finds nobody.
  reset(memory_.handoff_ball(worker_));
  is_used_ = false;
}

void DistanceLooks::look(CallNumber announced) {
  latest_ = announced;
  is_used_ = true;
  const double handoff_ns = probe_();
  if (handoff_ns > 0) memory_.set_streaming(handoff_ns > kFarHandoffNs);
}

void DistanceLooks::announce(CallNumber run) {
  // Orders nothing but itself.
  std::atomic<Clock::rep>& last = last_announcement();
  Clock::rep before = last.load(std::memory_order_relaxed);
  const Clock::duration now = Clock::now().time_since_epoch();
  if (now - Clock::duration(before) < kInterval) return;
  if (!last.compare_exchange_strong(before, now.count(), std::memory_order_relaxed)) return;
  memory_.announce_look(run + kRunsAhead);
}

}  // namespace hycoll
