#include "collectives/plans/plan_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "collectives/plans/typical_nodes.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/staging/staging.h"

namespace hycoll {
namespace {

constexpr std::size_t kBytesPerKib = 1024;

}  // namespace

bool has_natives(const Schedule& schedule) {
  return std::ranges::any_of(schedule.strands, [](const Strand& strand) {
    return std::ranges::find(strand.steps, StepKind::native, &Step::kind) != strand.steps.end();
  });
}

PlanKey PlanParts::own_key() const {
  PlanKey key = key_;
  const Shape shape = shape_for(key_.selected);
  const int root_node = shape.node_of_member(key_.root);
  if (root_node != options_.node) key.root = shape.first_member(root_node);
  return key;
}

CommonNeeds PlanParts::common_needs(std::optional<AbridgedPart>& own) const {
  if (options_.peers == Peers::processes) {
    const std::vector<int> typical = typical_nodes(shape_for(key_.selected), key_.root);
    if (std::ranges::binary_search(typical, options_.node)) own = own_staged();
    const bool crosses =
        (own && own->crosses_processes) || std::ranges::any_of(typical, [&](int node) {
          return !(own && node == options_.node) && crosses_processes(node);
        });
    if (crosses || (!own && crosses_processes(options_.node))) return common_needs_staged(own);
  }
  const PartNeeds all = direct_needs(key_.selected, 0);
  return {.needs = all.needs, .staging = {}, .direct = {}, .most_bytes = all.most_bytes};
}

bool PlanParts::crosses_processes(int node) const {
  const Algorithm& algorithm = find_algorithm(key_.collective, key_.selected.algorithm);
  return hycoll::crosses_processes(
      algorithm.replay(shape_for(key_.selected), key_.selected.segments, key_.root, node),
      options_.processes);
}

CommonNeeds PlanParts::common_needs_staged(const std::optional<AbridgedPart>& own) const {
  const Shape shape = shape_for(key_.selected);
  CommonNeeds common;
  const auto learn_from = [&](const AbridgedPart& part) {
    common.needs.add(part.needs);
    common.most_bytes = std::max(common.most_bytes, part.most_bytes);
    if (common.staging) {
      common.staging->add(part.schedule);
    } else {
      common.staging.emplace(part.schedule);
    }
  };
  for (const int node : typical_nodes(shape, key_.root)) {
    if (own && node == options_.node) {
      learn_from(*own);
    } else {
      learn_from(staged(node, {.first = 0, .count = 0}));
    }
  }
  require_affordable(common.most_bytes);
  // Threads announce addresses that mean nothing to other processes; and where a node is alone, and
  // does not ask for it, nobody does.
  const bool is_alone = shape.node_count() == 1;
  if (!options_.processes.is_one_each()) return common;
  if (is_alone && key_.reaching == SelectedPlan{}) return common;
  common.direct = direct_needs(key_.selected, common.most_bytes).needs;
  return common;
}

PartNeeds PlanParts::direct_needs(const SelectedPlan& selected, std::size_t kept_besides) const {
  const Algorithm& algorithm = find_algorithm(key_.collective, selected.algorithm);
  const Shape shape = shape_for(selected);
  const Processes* const processes =
      options_.peers == Peers::processes ? &options_.processes : nullptr;
  PartNeeds all;
  for (const int node : typical_nodes(shape, key_.root)) {
    all.add(part_needs(algorithm.replay(shape, selected.segments, key_.root, node), processes));
  }
  require_affordable(kept_besides + all.most_bytes);
  return all;
}

Schedule PlanParts::own_direct(const SelectedPlan& selected) const {
  const Algorithm& algorithm = find_algorithm(key_.collective, selected.algorithm);
  Schedule own = algorithm.generate(shape_for(selected), selected.segments, key_.root,
                                    only_node(options_.node));
  if (options_.peers == Peers::processes) {
    // Which process a message goes to.
    own.shape = own.shape.with_processes(options_.processes).with_visibility(Visibility::direct);
  }
  return own;
}

AbridgedPart PlanParts::staged(int node, WorkerRange workers) const {
  const Algorithm& algorithm = find_algorithm(key_.collective, key_.selected.algorithm);
  const Shape shape = shape_for(key_.selected);
  const int segments = key_.selected.segments;
  const StepReplay replay = algorithm.replay(shape, segments, key_.root, node);
  if (auto part = abridged_staging(replay, options_.processes, workers)) return std::move(*part);
  const Schedule direct = algorithm.generate(shape, segments, key_.root, only_node(node));
  const bool crosses = hycoll::crosses_processes(direct, options_.processes);
  Schedule whole = staged_throughout(direct, options_.processes);
  const PartNeeds needs = part_needs(whole, &options_.processes);
  const bool is_native = has_natives(whole);
  return {.schedule = abridged_for(std::move(whole), workers),
          .needs = needs.needs,
          .most_bytes = needs.most_bytes,
          .has_natives = is_native,
          .crosses_processes = crosses};
}

void PlanParts::require_affordable(std::size_t bytes) const {
  if (bytes <= limit_bytes_) return;
  throw Error(
      ErrorKind::unsupported,
      fmt::format("the plan of {} algorithm '{}' with {} lane(s) takes {} KiB on some node, "
                  "and the plans of a communicator may take {} KiB; allow more "
                  "(Options::plan_cache_kib, HYCOLL_PLAN_CACHE_KIB), or choose another "
                  "algorithm or fewer lanes",
                  name_of(key_.collective), key_.selected.algorithm, key_.selected.lanes,
                  (bytes + kBytesPerKib - 1) / kBytesPerKib, limit_bytes_ / kBytesPerKib));
}

Shape PlanParts::shape_for(const SelectedPlan& selected) const {
  std::vector<EqualNodes> nodes = options_.nodes;
  for (auto& [node, count] : nodes) {
    node.workers = std::max(node.members, std::min(node.workers, selected.workers_per_node));
  }
  nodes = with_aggregators(std::move(nodes), selected.aggregators);
  const Shape shape = grouped_for(selected, Shape(nodes, selected.lanes));
  // On a single node whose buffers are staged, a result that is made by its root is not staged; and
  // a root may put what it has where it belongs (root_puts()).
  const bool is_of_root = options_.peers == Peers::processes
                              ? delivers_to_root(key_.collective)
                              : options_.nearness == Nearness::far && has_root(key_.collective);
  if (is_of_root && shape.node_count() == 1 && selected.lanes == 1) {
    return shape.with_leaders({{key_.root}});
  }
  // A single lane is driven by worker 0, which owns a member and is the caller.
  const bool is_placed = selected.lanes > 1 || options_.peers == Peers::processes;
  return is_placed ? led_by_placement(shape) : shape;
}

Shape PlanParts::grouped_for(const SelectedPlan& selected, const Shape& shape) const {
  if (options_.near.empty()) return shape;
  if (!find_algorithm(key_.collective, selected.algorithm).follows_groups) return shape;
  std::vector<EqualGroupings> groups;
  int node = 0;
  for (const EqualNearness& run : options_.near) {
    // A plan may leave workers of a node without work.
    const int workers = shape.node(node).workers;
    groups.push_back(
        {.groups = with_levels(run, selected.group_levels).of_first(workers), .count = run.count});
    node += run.count;
  }
  groups.push_back({.groups = {}, .count = shape.node_count() - node});  // aggregators
  return shape.with_groups(groups);
}

Shape PlanParts::led_by_placement(const Shape& shape) const {
  const auto lanes = static_cast<std::size_t>(shape.lane_count());
  if (options_.leaders.empty() || lanes > options_.leaders.front().workers.size()) return shape;
  std::vector<EqualLeaders> leaders = options_.leaders;
  int aggregators = shape.node_count();
  for (EqualLeaders& run : leaders) {
    run.workers.resize(lanes);
    aggregators -= run.count;
  }
  HYCOLL_ASSERT(aggregators >= 0, "leaders are those of the nodes");
  // An aggregator's one worker leads them all.
  leaders.push_back({.workers = std::vector<int>(lanes, 0), .count = aggregators});
  return shape.with_leaders(leaders);
}

}  // namespace hycoll
