#ifndef HYCOLL_CORE_DRAWING_STATISTICS_TIMELINE_H_
#define HYCOLL_CORE_DRAWING_STATISTICS_TIMELINE_H_

#include <functional>
#include <vector>

#include "core/schedule/walk.h"

namespace hycoll {

/// A schedule with everything that is needed to walk through it.
struct ScheduleWalk {
  /// Requires a schedule that verify() accepts, and which outlives the walk.
  explicit ScheduleWalk(const Schedule& schedule);

  verifier::Index index;
  verifier::Matches matches;
  std::vector<int> order;
};

/// What a step costs, in any unit.
struct StepCost {
  double busy = 0;      ///< From its issue until its strand may issue the next step.
  double transfer = 0;  ///< From then until the receive (send), or all calls (native), complete.
};

/// When things happen if every step is issued as early as possible and nobody is in another's way.
struct Timeline {
  // By step number.
  std::vector<double> ready;       ///< The strand has reached the step.
  std::vector<double> issue;       ///< All that the step waits for has happened.
  std::vector<double> completion;  ///< A send's is that of handing the message over.
  double end = 0;
};

Timeline compute_timeline(const ScheduleWalk& walk,
                          const std::function<StepCost(const Step&)>& cost_of);

}  // namespace hycoll

#endif  // HYCOLL_CORE_DRAWING_STATISTICS_TIMELINE_H_
