// Which reduce a call uses.
//
// One node: lines while the root reads no more than a few hundred bytes there, then dpml with a
// lane per worker, which passes over memory once; two processes that stage let the root do all.
// Several nodes, short vectors: one lane, lines
// inside the node, a binomial tree between nodes. Several nodes, longer: dpml over a binomial tree,
// which between two nodes is best for all sizes; with more nodes halving or, where these are no
// power of two, pairwise; for long vectors the ring, or pairwise where operands must stay in order.
// More nodes, or more workers: the cheapest of these (selection_costs.h).

#include <algorithm>
#include <array>
#include <bit>

#include "collectives/plans/selection.h"
#include "collectives/plans/selection_costs.h"
#include "collectives/plans/selection_lanes.h"

namespace hycoll {
namespace {

/// Few nodes have to do with more than one message: those with a worker for each lane are reckoned
/// with.
double binomial(const LaneCosts& costs, double segments) {
  return costs.inputs + costs.alpha - costs.own_alpha +
         costs.steps * (costs.own_alpha + overlapped(costs.card, costs.own_combine, segments));
}

/// The combined blocks come together at the root.
double gather(const LaneCosts& costs, double blocks) {
  return costs.without_own(blocks) * costs.card;
}

double halving(const LaneCosts& costs, double /*segments*/) {
  const double folding = costs.folds ? costs.alpha + received_and_combined(costs, 1) : 0;
  return costs.inputs + folding + 2 * costs.full_steps * costs.alpha +
         received_and_combined(costs, costs.without_own(costs.partners)) +
         gather(costs, costs.partners);
}

double ring(const LaneCosts& costs, double segments) {
  return costs.inputs + costs.nodes * costs.alpha +
         received_and_combined(costs, costs.without_own(costs.nodes), segments) +
         gather(costs, costs.nodes);
}

/// Messages are many, or long.
double pairwise(const LaneCosts& costs, double segments) {
  const double messages = (costs.nodes - 1) * costs.message * segments;
  const double part = costs.without_own(costs.nodes);
  return costs.inputs + 2 * costs.alpha + part * costs.combine +
         2 * std::max(messages, part * costs.card);
}

constexpr std::array kCandidates = {
    Candidate{"lines-binomial", OperandOrder::canonical, Cut::nothing, Candidate::Lanes::lines,
              binomial},
    Candidate{"dpml-binomial", OperandOrder::canonical, Cut::lane, Candidate::Lanes::any, binomial},
    Candidate{"dpml-halving", OperandOrder::canonical, Cut::nothing, Candidate::Lanes::any,
              halving},
    Candidate{"dpml-pairwise", OperandOrder::canonical, Cut::block, Candidate::Lanes::any,
              pairwise},
    Candidate{"dpml-ring", OperandOrder::any, Cut::block, Candidate::Lanes::any, ring},
};

}  // namespace

SelectedPlan select_reduce(const SelectionQuery& query) {
  const std::size_t node_count = query.node_count();
  if (node_count > 1 && !is_measured(query)) return cheapest(query, kCandidates);
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
