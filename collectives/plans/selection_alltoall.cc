// Which all-to-all a call uses.
//
// One node: lines between few members while a member reads no more than a few hundred bytes there,
// then a lane per worker, whose leader writes what is for its member. Several nodes: with as many
// leaders as are worth it (selection_costs.h), overlapped.

#include <algorithm>
#include <array>

#include "collectives/algorithms/alltoall/alltoall.h"
#include "collectives/plans/selection.h"
#include "collectives/plans/selection_costs.h"
#include "collectives/plans/selection_lanes.h"

namespace hycoll {
namespace {

constexpr std::string_view kOverlapped = "onmpml";

SelectedPlan select_on_one_node(const SelectionQuery& query) {
  const int members = query.nodes.front().node.members;
  const std::size_t block_bytes = query.size_bytes / static_cast<std::size_t>(members);
  const std::size_t read_bytes = block_bytes * static_cast<std::size_t>(members - 1);
  const bool through_lines =
      members <= kMostMembersWithLines && reads_through_lines(query, read_bytes);
  SelectedPlan plan = through_lines ? plan_lines(query) : plan_lanes(query);
  plan.algorithm = through_lines ? "lines" : kOverlapped;
  return plan;
}

/// A leader gathers what it sends and scatters what it receives, round by round, while messages are
/// under way; all leaders share the node's card.
double overlapped_leaders(const LaneCosts& costs, double /*segments*/) {
  const double rounds = std::max((costs.nodes - 1) / costs.lanes, 1.0);
  const double moved = costs.members * (costs.nodes - 1) / costs.nodes;
  const double exchange = costs.own_alpha + rounds * costs.message + moved * costs.card;
  if (costs.members == 1) return exchange;
  const double copies = (costs.members + moved) * costs.vector_copy * costs.lanes_of_worker /
                        costs.lanes;
  return costs.hearing_of_members + overlapped(exchange, copies, rounds) + costs.hearing_of_lanes;
}

constexpr std::array kCandidates = {Candidate{kOverlapped, OperandOrder::canonical, Cut::nothing,
                                              Candidate::Lanes::any, overlapped_leaders}};

}  // namespace

SelectedPlan select_alltoall(const SelectionQuery& query) {
  return query.node_count() == 1 ? select_on_one_node(query) : cheapest(query, kCandidates);
}

}  // namespace hycoll
