#ifndef HYCOLL_TOOLS_COMMAND_COSTS_PLAN_COST_H_
#define HYCOLL_TOOLS_COMMAND_COSTS_PLAN_COST_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "collectives/selection/selection.h"
#include "core/schedule/shape.h"
#include "tools/command/line/routine.h"

namespace hycoll::command {

/// A plan that one process makes, of its node among equal ones whose every worker is a member.
/// Roots are member 0.
struct PlanTask {
  Routine routine = Routine::allreduce;
  std::string algorithm = "auto";
  int nodes = 1;
  int members = 1;
  int lanes = 0;               ///< 0: as selection decides.
  std::size_t size_bytes = 0;  ///< Elements have 4 bytes; of a barrier there is 1 byte.
  Visibility visibility = Visibility::direct;
  int node = 0;  ///< Whose plan it is.
};

/// What a plan takes: selection, the node's schedule, and the programs that it is bound to, those
/// of all workers with direct visibility and of the first one where workers are processes.
struct PlanCost {
  std::size_t own_steps = 0;  ///< Of the node's schedule; copies that collect count once a source.
  double seconds = 0;         ///< The least of the repetitions.
  double selection_seconds = 0;           ///< Of selection alone, the least.
  double schedule_seconds = 0;            ///< Of these until it is made, and all needs are known.
  std::size_t memory_bytes = 0;           ///< The most that is allocated meanwhile,
  std::size_t schedule_memory_bytes = 0;  ///< until then,
  std::size_t kept_bytes = 0;             ///< and of the programs, which stay.
  int repetitions = 0;
};

/// What a plan of so many own steps may take.
double most_seconds(std::size_t own_steps) noexcept;
std::size_t most_memory_bytes(std::size_t own_steps) noexcept;
bool is_within_limits(const PlanCost& cost) noexcept;

/// Where measuring gives up.
struct PlanBounds {
  std::chrono::milliseconds patience = std::chrono::seconds(2);
  std::size_t memory_bytes = std::size_t{1} << 30;
};

/// What has been found of one plan: its cost, or why there is none.
struct PlanMeasurement {
  std::optional<PlanCost> cost = {};
  std::string stopped = {};  ///< A bound that was reached, or the signal of which it died.
  std::string refused = {};  ///< The error that a call would get.
};

/// What selection decides. Throws Error (unsupported) if the algorithm does not serve the shape, or
/// as select() does.
SelectedPlan selected_for(const PlanTask& task);

/// Makes the plan in processes of their own, several times if that is quick. Requires a process
/// with one thread, and a task that selected_for() takes.
PlanMeasurement measure_plan(const PlanTask& task, const PlanBounds& bounds);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_COSTS_PLAN_COST_H_
