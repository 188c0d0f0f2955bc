#include "collectives/selection.h"

#include <algorithm>

#include "collectives/registry.h"
#include "threading/node_memory.h"

namespace hycoll {
namespace {

/// One node: what one member may read through lines before direct access is faster.
constexpr std::size_t kLinesReadBytes = 512;
/// Several nodes: vectors up to here go through one lane.
constexpr std::size_t kOneLaneBytes = 4 * 1024;
/// Short vectors between nodes travel in messages that MPI libraries send without a handshake.
constexpr std::size_t kEagerBytes = 2 * 1024;
/// Several nodes: what a further lane is worth.
constexpr std::size_t kLaneBytes = 16 * 1024;
constexpr std::size_t kRecursiveDoublingBytes = 16 * 1024;
/// Between two nodes recursive doubling sends no more than the ring, in half the steps.
constexpr std::size_t kTwoNodesRecursiveDoublingBytes = 256 * 1024;
/// From this size of a ring's block on, its bandwidth outweighs its number of steps.
constexpr std::size_t kRingBlockBytes = 64 * 1024;
constexpr std::size_t kSegmentBytes = 256 * 1024;
constexpr int kMaximumSegments = 16;

int fewest_workers(const std::vector<Node>& nodes) {
  return std::min_element(nodes.begin(), nodes.end(),
                          [](const Node& a, const Node& b) { return a.workers < b.workers; })
      ->workers;
}

int most_members(const std::vector<Node>& nodes) {
  return std::max_element(nodes.begin(), nodes.end(),
                          [](const Node& a, const Node& b) { return a.members < b.members; })
      ->members;
}

SelectedPlan select_on_one_node(const SelectionQuery& query) {
  const Node& node = query.nodes.front();
  const auto others = static_cast<std::size_t>(std::max(1, node.members - 1));
  if (query.requested_lanes <= 1 && query.size_bytes * others <= kLinesReadBytes) {
    return {.algorithm = "lines-recursive-doubling", .lanes = 1, .workers_per_node = node.members};
  }
  const int lanes = query.requested_lanes > 0 ? query.requested_lanes : node.workers;
  return {.algorithm = "dpml-recursive-doubling", .lanes = lanes, .workers_per_node = node.workers};
}

SelectedPlan select_between_nodes(const SelectionQuery& query) {
  const int members = most_members(query.nodes);
  const std::size_t one_lane_bytes = std::min(kOneLaneBytes, kMaximumLinesBytes);
  if (query.requested_lanes <= 1 && query.size_bytes <= one_lane_bytes) {
    const std::size_t segments = (query.size_bytes + kEagerBytes - 1) / kEagerBytes;
    return {.algorithm = "lines-recursive-doubling",
            .lanes = 1,
            .workers_per_node = members,
            .segments = static_cast<int>(std::max<std::size_t>(segments, 1))};
  }
  const auto useful = static_cast<int>(
      std::min<std::size_t>(query.size_bytes / kLaneBytes, static_cast<std::size_t>(INT16_MAX)));
  const int lanes = query.requested_lanes > 0 ? query.requested_lanes
                                              : std::clamp(useful, 1, fewest_workers(query.nodes));
  const std::size_t lane_bytes = query.size_bytes / static_cast<std::size_t>(lanes);
  const std::size_t block_bytes = lane_bytes / query.nodes.size();
  SelectedPlan plan{.algorithm = "dpml-halving-doubling",
                    .lanes = lanes,
                    .workers_per_node = std::max(members, lanes)};
  const std::size_t recursive_doubling_bytes =
      query.nodes.size() == 2 ? kTwoNodesRecursiveDoublingBytes : kRecursiveDoublingBytes;
  if (lane_bytes <= recursive_doubling_bytes) {
    plan.algorithm = "dpml-recursive-doubling";
  } else if (block_bytes >= kRingBlockBytes) {
    plan.algorithm = "dpml-ring";
    plan.segments = segments_for(block_bytes);
  }
  return plan;
}

}  // namespace

int segments_for(std::size_t message_bytes) noexcept {
  const std::size_t segments = message_bytes / kSegmentBytes;
  return static_cast<int>(std::clamp<std::size_t>(segments, 1, kMaximumSegments));
}

SelectedPlan select_allreduce(const SelectionQuery& query) {
  SelectedPlan plan =
      query.nodes.size() == 1 ? select_on_one_node(query) : select_between_nodes(query);
  if (query.requested_algorithm == "auto") return plan;
  const Algorithm& algorithm = find_algorithm(Collective::allreduce, query.requested_algorithm);
  plan.algorithm = algorithm.name;
  const bool multi_leader = algorithm.serves_shape(Shape(query.nodes, 2));
  plan.lanes = query.requested_lanes > 0 ? query.requested_lanes
               : multi_leader            ? fewest_workers(query.nodes)
                                         : 1;
  plan.workers_per_node = std::max(most_members(query.nodes), plan.lanes);
  const std::size_t lane_bytes = query.size_bytes / static_cast<std::size_t>(plan.lanes);
  const std::size_t block_bytes = lane_bytes / query.nodes.size();
  plan.segments = segments_for(algorithm.exchange == Exchange::ring ? block_bytes : lane_bytes);
  return plan;
}

}  // namespace hycoll
