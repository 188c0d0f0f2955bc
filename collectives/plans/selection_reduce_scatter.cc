// Which reduce_scatter a call uses.
//
// One node: lines while a member writes and reads no more than a few hundred bytes there, then dpml
// with a lane per worker, which passes over memory once. Several nodes, short vectors: one lane,
// lines inside the node, and between nodes pairwise or, with many nodes, halving: the butterfly
// where operands must stay in order. Several nodes, longer: dpml over pairwise, which sends the
// least in one step; with many nodes the ring for long vectors, halving or the butterfly for others
// and for nodes that pairwise does not serve.
// More nodes, or more workers: the cheapest of these, and of the circulant graph
// (selection_costs.h).

#include <array>
#include <span>

#include "collectives/algorithms/reduce_scatter/reduce_scatter.h"
#include "collectives/plans/selection.h"
#include "collectives/plans/selection_costs.h"
#include "collectives/plans/selection_lanes.h"

namespace hycoll {
namespace {

SelectedPlan select_on_one_node(const SelectionQuery& query) {
  const auto members = static_cast<std::size_t>(query.nodes.front().node.members);
  // A member writes its whole input to lines, and reads its block in the others'.
  const std::size_t read_bytes = query.size_bytes / members * (members - 1);
  const bool through_lines = reads_through_lines(query, query.size_bytes + read_bytes);
  SelectedPlan plan = through_lines ? plan_lines(query) : plan_lanes(query);
  plan.algorithm = through_lines ? "lines-pairwise" : "dpml-pairwise";
  return plan;
}

/// The messages that carry so many nodes' parts: with several lanes these lie apart.
double messages_of(const LaneCosts& costs, double parts, double ranges) {
  return costs.lanes == 1 ? ranges : parts;
}

double pairwise(const LaneCosts& costs, double segments) {
  return costs.inputs + costs.alpha + (costs.nodes - 2) * segments * costs.message +
         received_and_combined(costs, costs.without_own(costs.nodes));
}

double ring(const LaneCosts& costs, double segments) {
  return costs.inputs + (costs.nodes - 1) * costs.alpha +
         received_and_combined(costs, costs.without_own(costs.nodes), segments);
}

double halving(const LaneCosts& costs, double /*segments*/) {
  const double messages = messages_of(costs, costs.partners - 1, costs.full_steps);
  const double folding =
      costs.folds ? 2 * costs.alpha + costs.card + received_and_combined(costs, 1) : 0;
  return costs.inputs + folding + costs.full_steps * costs.alpha +
         (messages - costs.full_steps) * costs.message +
         received_and_combined(costs, costs.without_own(costs.partners));
}

double circulant(const LaneCosts& costs, double /*segments*/) {
  const double messages = messages_of(costs, costs.nodes - 1, 2 * costs.steps);
  return costs.inputs + costs.steps * costs.alpha + (messages - costs.steps) * costs.message +
         received_and_combined(costs, costs.without_own(costs.nodes));
}

constexpr std::array kCandidates = {
    Candidate{"dpml-pairwise", OperandOrder::canonical, Cut::block, Candidate::Lanes::any,
              pairwise},
    Candidate{"lines-pairwise", OperandOrder::canonical, Cut::nothing, Candidate::Lanes::lines,
              pairwise},
    Candidate{"lines-halving", OperandOrder::any, Cut::nothing, Candidate::Lanes::lines, halving},
    Candidate{"lines-butterfly", OperandOrder::canonical, Cut::nothing, Candidate::Lanes::lines,
              halving},
    Candidate{"dpml-halving", OperandOrder::any, Cut::nothing, Candidate::Lanes::any, halving},
    Candidate{"dpml-butterfly", OperandOrder::canonical, Cut::nothing, Candidate::Lanes::any,
              halving},
    Candidate{"dpml-circulant", OperandOrder::any, Cut::nothing, Candidate::Lanes::any, circulant},
    Candidate{"dpml-ring", OperandOrder::any, Cut::block, Candidate::Lanes::any, ring},
};

}  // namespace

SelectedPlan select_reduce_scatter(const SelectionQuery& query) {
  if (query.node_count() == 1) return select_on_one_node(query);
  if (!is_measured(query)) {
    const bool all_serve = serves_pairwise_reduce_scatter(Shape(query.nodes, 1));
    return cheapest(query, all_serve ? kCandidates : std::span(kCandidates).subspan(1));
  }
  const bool through_lines = leads_through_lines(query);
  const bool keeps_order = query.order != OperandOrder::any;
  const bool few_nodes = query.node_count() <= kMostNodesAtOnce;
  SelectedPlan plan = through_lines ? plan_lines(query) : plan_lanes(query);
  if (through_lines) {
    plan.algorithm = few_nodes     ? "lines-pairwise"
                     : keeps_order ? "lines-butterfly"
                                   : "lines-halving";
    return plan;
  }
  const std::size_t lane_bytes = query.size_bytes / static_cast<std::size_t>(plan.lanes);
  const std::size_t block_bytes = lane_bytes / query.node_count();
  const bool is_long = block_bytes >= kLongBlockBytes;
  const bool serves_pairwise = serves_pairwise_reduce_scatter(Shape(query.nodes, plan.lanes));
  if (serves_pairwise && (few_nodes || (is_long && keeps_order))) {
    plan.algorithm = "dpml-pairwise";
  } else if (is_long && !keeps_order) {
    plan.algorithm = "dpml-ring";
  } else {
    plan.algorithm = keeps_order ? "dpml-butterfly" : "dpml-halving";
    return plan;
  }
  plan.segments = segments_for(block_bytes);
  return plan;
}

}  // namespace hycoll
