// Which broadcast a call uses.
//
// One node: lines while a member reads no more than a few hundred bytes there, then several leaders
// with a lane per worker, who all copy from the root's input. Several nodes, short vectors: one
// lane, lines inside the node, a binomial tree between nodes. Several nodes, longer: a lane per
// kLaneBytes over a binomial tree, which between two nodes is one message; with more nodes, once
// what messages carry counts, scatter and ring, or the chain where it is cut into more segments
// than there are nodes, for then it sends half of that.

#include "collectives/selection.h"
#include "collectives/selection_lanes.h"

namespace hycoll {

SelectedPlan select_broadcast(const SelectionQuery& query) {
  const std::size_t node_count = query.nodes.size();
  const bool through_lines =
      node_count == 1 ? reads_through_lines(query, query.size_bytes) : leads_through_lines(query);
  SelectedPlan plan = through_lines ? plan_lines(query) : plan_lanes(query);
  plan.algorithm = through_lines ? "lines-binomial" : "multi-leader-binomial";
  if (node_count == 1) return plan;
  if (through_lines) {
    plan.segments = eager_segments(query.size_bytes);
    return plan;
  }
  const std::size_t lane_bytes = query.size_bytes / static_cast<std::size_t>(plan.lanes);
  plan.segments = segments_for(lane_bytes);
  if (node_count == 2 || lane_bytes <= kFewStepsBytes) return plan;
  if (static_cast<std::size_t>(plan.segments) > node_count) {
    plan.algorithm = "multi-leader-chain";
  } else {
    plan.algorithm = "multi-leader-scatter-ring-opt";
    plan.segments = 1;
  }
  return plan;
}

}  // namespace hycoll
