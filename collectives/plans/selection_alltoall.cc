// Which all-to-all a call uses.
//
// One node: lines between few members while a member reads no more than a few hundred bytes there,
// then a lane per worker, whose leader writes what is for its member. Several nodes: with as many
// leaders as are worth it (selection_costs.h), overlapped or in phases.

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

/// The messages of one worker, on a node that may have few of them.
double rounds_of(const LaneCosts& costs) {
  constexpr double kMostLanesInTurn = 4;
  const double own = std::max((costs.nodes - 1) / costs.lanes, 1.0);
  return costs.lanes_of_worker > kMostLanesInTurn ? own * costs.lanes_of_worker : own;
}

/// What a node's leaders do for one lane's rounds, and the card for all of them.
struct Led {
  explicit Led(const LaneCosts& costs)
      : messages(rounds_of(costs) * costs.message_of_lane), moved(costs.members * costs.elsewhere) {
    copies = (costs.members + moved) * costs.vector_copy / costs.lanes;
    if (costs.members == 1) {
      copies = (1 - costs.elsewhere) * costs.vector_copy;  // its own block
      return;
    }
    hearing = costs.hearing_of_members + costs.hearing_of_lanes;
  }

  double messages;
  double moved;  ///< By the card, in rows.
  double copies = 0;
  double hearing = 0;
};

/// How much longer the card takes where several lanes send to several nodes at once.
double in_the_way(const LaneCosts& costs, double factor) {
  return costs.lanes > 2 && costs.nodes > 2 ? factor : 1;
}

/// A leader's messages, and its copies, take turns with its own messages only. With more than two
/// leaders messages to one node wait for one another, and keep others from leaving.
double overlapped_leaders(const LaneCosts& costs, double /*segments*/) {
  const Led led(costs);
  const double card = led.moved * costs.card * in_the_way(costs, 1.6);
  if (costs.members == 1) return costs.own_alpha + std::max(led.messages + led.copies, card);
  const double rounds = std::max((costs.nodes - 1) / costs.lanes, 1.0);
  return costs.own_alpha + led.hearing + overlapped(led.messages + led.copies, card, rounds);
}

/// In phases everything is under way at once, so that hardly anything waits.
double phased_leaders(const LaneCosts& costs, double /*segments*/) {
  const Led led(costs);
  const double card = led.moved * costs.card * in_the_way(costs, 1.15);
  return costs.own_alpha + led.hearing + led.copies + std::max(led.messages, card);
}

constexpr Candidate candidate(std::string_view algorithm,
                              double (*cost)(const LaneCosts&, double)) {
  return {algorithm, OperandOrder::canonical, Cut::nothing, Candidate::Lanes::any, cost};
}

constexpr std::array kCandidates = {candidate(kOverlapped, overlapped_leaders),
                                    candidate("mpml", phased_leaders)};

}  // namespace

SelectedPlan select_alltoall(const SelectionQuery& query) {
  return query.node_count() == 1 ? select_on_one_node(query) : cheapest(query, kCandidates);
}

}  // namespace hycoll
