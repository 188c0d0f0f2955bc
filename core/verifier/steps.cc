#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/verifier/structure.h"

namespace hycoll::verifier {
namespace {

class StepCheck {
 public:
  explicit StepCheck(const Schedule& schedule)
      : schedule_(schedule), raised_(schedule.flags.size(), 0) {}

  Problem check_step(const Step& step, const StepContext& context) {
    if (Problem problem = check_dependencies(step, context); !problem.empty()) return problem;
    if (is_asynchronous(step.kind)) return check_message(step, context);
    if (step.kind == StepKind::signal) return check_signal(step, context);
    return {};
  }

  /// Requires that all steps passed check_step, which counts how often each flag is raised.
  Problem check_wait(const Step& step, const StepContext& context) const {
    if (step.kind != StepKind::wait) return {};
    if (!in_range(step.flag, schedule_.flags.size())) {
      return fmt::format("names flag {} of {}", step.flag, schedule_.flags.size());
    }
    const int node = schedule_.flags[static_cast<std::size_t>(step.flag)].node;
    if (node != context.node) return fmt::format("waits for flag {} of node {}", step.flag, node);
    const int raised = raised_[static_cast<std::size_t>(step.flag)];
    if (step.value >= 1 && step.value <= raised) return {};
    return fmt::format("waits until flag {} has reached {}, but it is raised {} times", step.flag,
                       step.value, raised);
  }

 private:
  Problem check_dependencies(const Step& step, const StepContext& context) const {
    const std::size_t total = schedule_.dependencies.size();
    if (!is_within(step.first_dependency, step.dependency_count, total)) {
      return fmt::format("has {} dependencies from {} on that lie outside the schedule's {}",
                         step.dependency_count, step.first_dependency, total);
    }
    for (const int earlier : schedule_.dependencies_of(step)) {
      if (earlier < 0 || earlier >= context.step) {
        return fmt::format("depends on step {}, which is not an earlier one", earlier);
      }
      const StepKind kind = context.steps[static_cast<std::size_t>(earlier)].kind;
      if (!is_asynchronous(kind)) {
        return fmt::format("depends on step {}, a {}, which is not asynchronous", earlier,
                           name_of(kind));
      }
    }
    return check_distinct(step);
  }

  /// So a step has no more dependencies than there are steps before it.
  Problem check_distinct(const Step& step) const {
    const std::span<const int> all = schedule_.dependencies_of(step);
    std::vector<int> sorted(all.begin(), all.end());
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    return twice == sorted.end() ? Problem() : fmt::format("depends on step {} twice", *twice);
  }

  Problem check_message(const Step& step, const StepContext& context) const {
    const Shape& shape = schedule_.shape;
    if (step.lane < 0 || step.lane >= shape.lane_count()) {
      return fmt::format("uses lane {} of {}", step.lane, shape.lane_count());
    }
    const int leader = shape.leader(context.node, step.lane);
    if (leader != context.worker) {
      return fmt::format("uses lane {}, whose leader is worker {}", step.lane, leader);
    }
    if (step.tag < 0 || step.tag >= kMostTags) {
      return fmt::format("has tag {} of {}", step.tag, kMostTags);
    }
    if (step.kind == StepKind::native) return {};
    if (step.peer_node < 0 || step.peer_node >= shape.node_count()) {
      return fmt::format("names node {} of {}", step.peer_node, shape.node_count());
    }
    if (step.peer_node == context.node) return "exchanges a message with its own node";
    return {};
  }

  Problem check_signal(const Step& step, const StepContext& context) {
    if (!in_range(step.flag, schedule_.flags.size())) {
      return fmt::format("names flag {} of {}", step.flag, schedule_.flags.size());
    }
    const int writer = schedule_.flags[static_cast<std::size_t>(step.flag)].writer_strand;
    if (writer != context.strand) {
      return fmt::format("raises flag {}, which only strand {} may do", step.flag, writer);
    }
    int& raised = raised_[static_cast<std::size_t>(step.flag)];
    if (step.value != raised + 1) {
      return fmt::format("raises flag {} to {}, expected {}", step.flag, step.value, raised + 1);
    }
    ++raised;
    return {};
  }

  const Schedule& schedule_;
  std::vector<int> raised_;  // per flag
};

}  // namespace

std::optional<Finding> check_steps(const Schedule& schedule) {
  StepCheck check(schedule);
  auto finding = first_problem(schedule, [&](const Step& step, const StepContext& context) {
    return check.check_step(step, context);
  });
  if (finding) return finding;
  return first_problem(schedule, [&](const Step& step, const StepContext& context) {
    return check.check_wait(step, context);
  });
}

}  // namespace hycoll::verifier
