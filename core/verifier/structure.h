#ifndef HYCOLL_CORE_VERIFIER_STRUCTURE_H_
#define HYCOLL_CORE_VERIFIER_STRUCTURE_H_

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/verifier/checks.h"

namespace hycoll::verifier {

/// What is wrong as a sentence, empty for nothing.
using Problem = std::string;

/// Whether [first, first + count) lies within [0, total).
inline bool is_within(int first, int count, std::size_t total) {
  return first >= 0 && count >= 0 && std::cmp_less_equal(count, total) &&
         std::cmp_less_equal(first, total - static_cast<std::size_t>(count));
}

inline bool in_range(int index, std::size_t count) { return is_within(index, 1, count); }

/// Who performs a step.
struct StepContext {
  int strand;
  int worker;
  int node;
  int step;                     ///< Its index in the strand.
  std::span<const Step> steps;  ///< All steps of the strand.
};

/// Calls check(step, context) for all steps and returns the first problem. Requires workers that
/// exist.
template <class StepFunction>
std::optional<Finding> first_problem(const Schedule& schedule, StepFunction check) {
  for (std::size_t strand = 0; strand < schedule.strands.size(); ++strand) {
    StepContext context{.strand = static_cast<int>(strand),
                        .worker = schedule.strands[strand].worker,
                        .node = schedule.shape.node_of_worker(schedule.strands[strand].worker),
                        .step = 0,
                        .steps = schedule.strands[strand].steps};
    for (const Step& step : context.steps) {
      if (Problem problem = check(step, context); !problem.empty()) {
        return Finding{context.strand, context.step, std::move(problem)};
      }
      ++context.step;
    }
  }
  return {};
}

/// The parts of check 1; each requires that those before it found nothing.
Problem check_frame(const Schedule& schedule);                   ///< Strands, buffers and flags.
std::optional<Finding> check_spans(const Schedule& schedule);    ///< What each step touches.
std::optional<Finding> check_steps(const Schedule& schedule);    ///< All else about each step.
std::optional<Finding> check_streams(const Schedule& schedule);  ///< Who reads streams, and where.

}  // namespace hycoll::verifier

#endif  // HYCOLL_CORE_VERIFIER_STRUCTURE_H_
