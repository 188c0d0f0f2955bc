// Which reduce a call uses.
//
// One node: lines while the root reads no more than a few hundred bytes there, then dpml with a
// lane per worker, which passes over memory once; two processes that stage let the root do all.
// Several nodes, short vectors: one lane, lines
// inside the node, a binomial tree between nodes. Several nodes, longer: dpml over a binomial tree,
// which between two nodes is best for all sizes; with more nodes halving or, where these are no
// power of two, pairwise; for long vectors the ring, or pairwise where operands must stay in order.

#include <bit>

#include "collectives/plans/selection.h"
#include "collectives/plans/selection_lanes.h"

namespace hycoll {

SelectedPlan select_reduce(const SelectionQuery& query) {
  const std::size_t node_count = query.node_count();
  const bool through_lines =
      node_count == 1
          ? reads_through_lines(
                query, query.size_bytes * static_cast<std::size_t>(most_members(query.nodes) - 1))
          : leads_through_lines(query);
  SelectedPlan plan = through_lines ? plan_lines(query) : plan_lanes(query);
  plan.algorithm = through_lines ? "lines-binomial" : "dpml-binomial";
  // The root reads what the other one stages. Each one's half would cost half a vector more.
  const bool is_staged_pair =
      query.visibility == Visibility::staged && node_count == 1 && most_members(query.nodes) == 2;
  if (is_staged_pair && query.requested_lanes == 0) plan.lanes = 1;
  if (node_count == 1) return plan;
  if (through_lines) {
    plan.segments = eager_segments(query.size_bytes);
    return plan;
  }
  const std::size_t lane_bytes = query.size_bytes / static_cast<std::size_t>(plan.lanes);
  const std::size_t block_bytes = lane_bytes / node_count;
  if (node_count == 2 || lane_bytes <= kFewStepsBytes) {
    plan.segments = segments_for(lane_bytes);
    return plan;
  }
  if (block_bytes >= kLongBlockBytes && query.order == OperandOrder::any) {
    plan.algorithm = "dpml-ring";
  } else if (block_bytes >= kLongBlockBytes || !std::has_single_bit(node_count)) {
    plan.algorithm = "dpml-pairwise";
  } else {
    plan.algorithm = "dpml-halving";
    return plan;
  }
  plan.segments = segments_for(block_bytes);
  return plan;
}

}  // namespace hycoll
