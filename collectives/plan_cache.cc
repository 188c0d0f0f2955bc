#include "collectives/plan_cache.h"

#include <algorithm>
#include <utility>

#include "collectives/registry.h"

namespace hycoll {

PlanCache::PlanCache(Options options) : options_(std::move(options)) {}

const Plan& PlanCache::find(std::size_t count, std::size_t element_bytes) {
  const Key key{count, element_bytes};
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  return plans_.emplace(key, make(key)).first->second;
}

SelectedPlan PlanCache::select(std::size_t count, std::size_t element_bytes) const {
  return select_allreduce({.nodes = options_.nodes,
                           .size_bytes = count * element_bytes,
                           .requested_lanes = options_.requested_lanes,
                           .requested_algorithm = options_.requested_algorithm});
}

Shape PlanCache::shape_for(const SelectedPlan& selected) const {
  std::vector<Node> nodes = options_.nodes;
  for (Node& node : nodes)
    node.workers = std::max(node.members, std::min(node.workers, selected.workers_per_node));
  // Leaders are placed on this machine; a node with other workers wraps the indices around. A
  // single lane is driven by worker 0, which owns a member and is the caller.
  const auto index = static_cast<std::size_t>(selected.lanes) - 1;
  const bool placed = selected.lanes > 1 && index < options_.lane_workers.size();
  std::vector<int> lane_workers = placed ? options_.lane_workers[index] : std::vector<int>{};
  return Shape(std::move(nodes), selected.lanes, Visibility::direct, std::move(lane_workers));
}

Plan PlanCache::make(const Key& key) const {
  SelectedPlan selected = select(key.count, key.element_bytes);
  const Schedule schedule = find_algorithm(Collective::allreduce, selected.algorithm)
                                .generate(shape_for(selected), selected.segments);
  return {
      .count = key.count,
      .element_bytes = key.element_bytes,
      .selected = std::move(selected),
      .programs = bind_schedule(schedule, options_.node, key.count,
                                {.element_bytes = key.element_bytes,
                                 .streaming_threshold_bytes = options_.streaming_threshold_bytes})};
}

}  // namespace hycoll
