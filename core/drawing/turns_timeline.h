#ifndef HYCOLL_CORE_DRAWING_TURNS_TIMELINE_H_
#define HYCOLL_CORE_DRAWING_TURNS_TIMELINE_H_

#include <functional>

#include "core/drawing/statistics_timeline.h"

namespace hycoll {

/// As compute_timeline(), but a worker does one thing at a time: its strands take turns, as they do
/// in the executor. A strand that can go on does so until it has to wait, then the next one that
/// can does; one that waits keeps nobody from working. Messages are still not in each other's way.
/// The costs are not negative.
Timeline compute_turns_timeline(const ScheduleWalk& walk,
                                const std::function<StepCost(const Step&)>& cost_of);

}  // namespace hycoll

#endif  // HYCOLL_CORE_DRAWING_TURNS_TIMELINE_H_
