#include "tools/command/costs/plan_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "collectives/plans/typical_nodes.h"
#include "core/base/errors.h"
#include "core/staging/staging.h"
#include "threading/program/abridgement.h"
#include "threading/program/program.h"
#include "threading/program/schedule_binding.h"
#include "tools/command/costs/allocations.h"
#include "tools/command/line/isolated_run.h"
#include "tools/command/line/output.h"
#include "tools/command/line/sizes.h"

namespace hycoll::command {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMostSeconds = 1e-3;
constexpr double kMostSecondsPerStep = 0.2e-6;
constexpr std::size_t kMostBytes = 64 * 1024;
constexpr std::size_t kMostBytesPerStep = 200;

constexpr int kMostRepetitions = 20;
/// No further repetition begins after that, or after a quarter of the patience.
constexpr double kRepeatingSeconds = 0.2;

constexpr std::size_t kElementBytes = 4;

/// What a communicator has before its first call.
std::vector<EqualNodes> nodes_of(const PlanTask& task) {
  return {{.node = {.members = task.members, .workers = task.members}, .count = task.nodes}};
}

SelectedPlan select_among(const std::vector<EqualNodes>& nodes, const PlanTask& task) {
  return select({.collective = collective_of(task.routine),
                 .nodes = nodes,
                 .size_bytes = task.routine == Routine::barrier ? 1 : task.size_bytes,
                 .requested_lanes = task.lanes,
                 .requested_algorithm = task.algorithm,
                 .visibility = task.visibility});
}

/// Blocks are equal, of whole elements.
VectorExtent extent_of(const PlanTask& task) {
  if (task.routine == Routine::barrier) return {.count = 1};
  const auto parts =
      has_blocks(collective_of(task.routine))
          ? static_cast<std::size_t>(task.nodes) * static_cast<std::size_t>(task.members)
          : 1;
  const std::size_t unit = kElementBytes * parts;
  return {.count = (task.size_bytes + unit - 1) / unit};
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The steps; a copy that collects counts once for each of its sources.
std::size_t operation_count(const Schedule& schedule) {
  std::size_t count = 0;
  for (const Strand& strand : schedule.strands) {
    for (const Step& step : strand.steps) {
      count += collects(step) ? static_cast<std::size_t>(step.source_count) : 1;
    }
  }
  return count;
}

/// What a process whose threads are the node's workers makes, or one of many that touches its own
/// member's buffers only.
AbridgedPart direct_part(const std::vector<EqualNodes>& nodes, const SelectedPlan& selected,
                         const PlanTask& task) {
  const Algorithm& algorithm = find_algorithm(collective_of(task.routine), selected.algorithm);
  const Shape shape(nodes, selected.lanes);
  PartNeeds all;
  for (const int node : typical_nodes(shape, 0)) {
    all.add(part_needs(algorithm.replay(shape, selected.segments, 0, node), nullptr));
  }
  Schedule schedule = algorithm.generate(shape, selected.segments, 0, only_node(task.node));
  const std::size_t step_count = operation_count(schedule);
  return {.schedule = std::move(schedule), .needs = all.needs, .step_count = step_count};
}

/// What one of many processes makes, of its own workers and of what the typical nodes need.
AbridgedPart staged_part(const std::vector<EqualNodes>& nodes, const SelectedPlan& selected,
                         const PlanTask& task, WorkerRange workers) {
  const Algorithm& algorithm = find_algorithm(collective_of(task.routine), selected.algorithm);
  const Shape shape(nodes, selected.lanes);
  const auto part_of = [&](int node, WorkerRange wanted) {
    return abridged_staging(algorithm.replay(shape, selected.segments, 0, node), {}, wanted);
  };
  std::optional<AbridgedPart> own = part_of(task.node, workers);
  if (!own || !own->crosses_processes) {
    AbridgedPart part = direct_part(nodes, selected, task);
    part.schedule = abridged_for(std::move(part.schedule), workers);
    return part;
  }
  for (const int node : typical_nodes(shape, 0)) {
    if (node == task.node) continue;
    const std::optional<AbridgedPart> typical = part_of(node, {.first = 0, .count = 0});
    if (typical) own->needs.add(typical->needs);
  }
  return std::move(*own);
}

/// One plan, made and given up. Counts its memory if told to.
PlanCost make_plan(const std::vector<EqualNodes>& nodes, const PlanTask& task,
                   const AllocationCount* allocations) {
  PlanCost cost{.repetitions = 1};
  const Clock::time_point start = Clock::now();
  std::vector<Program> programs;
  {
    const SelectedPlan selected = select_among(nodes, task);
    cost.selection_seconds = seconds_since(start);
    const bool has_threads = task.visibility == Visibility::direct;
    const WorkerRange workers = has_threads ? WorkerRange{} : WorkerRange{.first = 0, .count = 1};
    AbridgedPart part = has_threads ? direct_part(nodes, selected, task)
                                    : staged_part(nodes, selected, task, workers);
    cost.own_steps = part.step_count;
    cost.schedule_seconds = seconds_since(start);
    if (allocations != nullptr) cost.schedule_memory_bytes = allocations->peak_bytes();
    programs = bind_schedule(std::move(part.schedule), task.node, extent_of(task),
                             {.element_bytes = task.routine == Routine::barrier ? 1 : kElementBytes,
                              .workers = workers,
                              .needs = &part.needs});
    cost.seconds = seconds_since(start);
  }
  if (allocations != nullptr) {
    cost.memory_bytes = allocations->peak_bytes();
    cost.kept_bytes = allocations->present_bytes();
  }
  return cost;
}

/// The first plan is counted, the others are timed alone.
PlanCost repeat_plan(const PlanTask& task, const PlanBounds& bounds) {
  const std::vector<EqualNodes> nodes = nodes_of(task);
  const double repeating_seconds =
      std::min(kRepeatingSeconds, std::chrono::duration<double>(bounds.patience).count() / 4);
  const Clock::time_point start = Clock::now();
  PlanCost least;
  {
    const AllocationCount allocations(bounds.memory_bytes);
    least = make_plan(nodes, task, &allocations);
  }
  while (least.repetitions < kMostRepetitions && seconds_since(start) < repeating_seconds) {
    const PlanCost next = make_plan(nodes, task, nullptr);
    ++least.repetitions;
    least.selection_seconds = std::min(least.selection_seconds, next.selection_seconds);
    if (next.seconds >= least.seconds) continue;
    least.seconds = next.seconds;
    least.schedule_seconds = next.schedule_seconds;
  }
  return least;
}

Json json_of(const PlanCost& cost) {
  return {{"own_steps", cost.own_steps},
          {"seconds", cost.seconds},
          {"selection_seconds", cost.selection_seconds},
          {"schedule_seconds", cost.schedule_seconds},
          {"memory_bytes", cost.memory_bytes},
          {"schedule_memory_bytes", cost.schedule_memory_bytes},
          {"kept_bytes", cost.kept_bytes},
          {"repetitions", cost.repetitions}};
}

PlanCost cost_from(const Json& json) {
  return {.own_steps = json.at("own_steps"),
          .seconds = json.at("seconds"),
          .selection_seconds = json.at("selection_seconds"),
          .schedule_seconds = json.at("schedule_seconds"),
          .memory_bytes = json.at("memory_bytes"),
          .schedule_memory_bytes = json.at("schedule_memory_bytes"),
          .kept_bytes = json.at("kept_bytes"),
          .repetitions = json.at("repetitions")};
}

/// What the process of its own says: one key, as the members of PlanMeasurement.
Json measure_here(const PlanTask& task, const PlanBounds& bounds) {
  try {
    return {{"cost", json_of(repeat_plan(task, bounds))}};
  } catch (const std::bad_alloc&) {
    return {{"stopped", fmt::format("at {}", short_size(bounds.memory_bytes))}};
  } catch (const Error& error) {
    return {{"refused", error.what()}};
  }
}

}  // namespace

double most_seconds(std::size_t own_steps) noexcept {
  return kMostSeconds + kMostSecondsPerStep * static_cast<double>(own_steps);
}

std::size_t most_memory_bytes(std::size_t own_steps) noexcept {
  return kMostBytes + kMostBytesPerStep * own_steps;
}

bool is_within_limits(const PlanCost& cost) noexcept {
  return cost.seconds <= most_seconds(cost.own_steps) &&
         cost.memory_bytes <= most_memory_bytes(cost.own_steps);
}

SelectedPlan selected_for(const PlanTask& task) {
  const std::vector<EqualNodes> nodes = nodes_of(task);
  SelectedPlan selected = select_among(nodes, task);
  const Algorithm& algorithm = find_algorithm(collective_of(task.routine), selected.algorithm);
  if (!algorithm.serves_shape(Shape(nodes, selected.lanes))) {
    throw Error(ErrorKind::unsupported,
                fmt::format("algorithm '{}' serves {}", algorithm.name, algorithm.serves));
  }
  return selected;
}

PlanMeasurement measure_plan(const PlanTask& task, const PlanBounds& bounds) {
  const IsolatedRun run =
      run_isolated([&] { return json_text(measure_here(task, bounds)); }, bounds.patience);
  switch (run.end) {
    case IsolatedRun::End::timed_out:
      return {.stopped = fmt::format("after {:.3g} s",
                                     std::chrono::duration<double>(bounds.patience).count())};
    case IsolatedRun::End::died:
      return {.stopped = fmt::format("by signal {}", run.signal)};
    case IsolatedRun::End::returned:
      break;
  }
  const Json found = parse_json(run.text);
  if (found.contains("cost")) return {.cost = cost_from(found.at("cost"))};
  return {.stopped = found.value("stopped", ""), .refused = found.value("refused", "")};
}

}  // namespace hycoll::command
