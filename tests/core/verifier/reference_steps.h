#ifndef HYCOLL_TESTS_CORE_VERIFIER_REFERENCE_STEPS_H_
#define HYCOLL_TESTS_CORE_VERIFIER_REFERENCE_STEPS_H_

#include <compare>
#include <set>
#include <vector>

#include "core/schedule/schedule.h"

namespace hycoll::testing {

/// A step, by the indices of its strand and of itself.
struct StepId {
  int strand;
  int step;
  friend auto operator<=>(const StepId&, const StepId&) = default;
};

const Step& step_of(const Schedule& schedule, StepId id);
std::vector<StepId> all_steps(const Schedule& schedule);
int worker_of(const Schedule& schedule, StepId id);
int node_of(const Schedule& schedule, StepId id);
bool is_lines(const Schedule& schedule, const Span& span);
bool is_stream(const Schedule& schedule, const Span& span);
const Span& any_span(const Schedule& schedule, const Step& step);

/// The step that raises a wait's flag to its value.
StepId signal_of(const Schedule& schedule, const Step& wait);

/// The steps that write the lines and streams which a step reads; {-1, -1} for a chunk that nobody
/// writes.
std::set<StepId> awaited_writers_of(const Schedule& schedule, const Step& reader);

}  // namespace hycoll::testing

#endif  // HYCOLL_TESTS_CORE_VERIFIER_REFERENCE_STEPS_H_
