// Which gather, or scatter, a call uses.
//
// One node: lines while no more than a few hundred bytes pass through them, then a lane per worker,
// whose leader moves its member's block; of a scatter between threads who are far from one another
// the root alone (root_puts()). Several nodes: the cheapest (costs.h) of the binomial
// tree, through lines or one leader, and of straight messages, through lines or with as many lanes
// as are worth it. Gather and scatter are the same in opposite directions, and cost the same.

#include <algorithm>
#include <array>

#include "collectives/selection/costs.h"
#include "collectives/selection/lanes.h"
#include "collectives/selection/rules.h"

namespace hycoll {
namespace {

SelectedPlan select_on_one_node(const SelectionQuery& query) {
  const auto members = static_cast<std::size_t>(query.nodes.front().node.members);
  const bool through_lines = reads_through_lines(query, query.size_bytes / members * (members - 1));
  SelectedPlan plan = through_lines ? plan_lines(query) : plan_lanes(query);
  plan.algorithm = through_lines ? "lines-binomial" : "multi-leader-linear";
  return plan;
}

/// Of the vector, what the members of the largest node have.
double part_of_node(const LaneCosts& costs) { return (1 - costs.elsewhere) * costs.vector_copy; }

/// Leaders copy their node's part before the exchange, or after it, block by block; with a lane for
/// each member what they send or receive lies in a member's buffer.
double led(const LaneCosts& costs, double exchange) {
  if (costs.members == 1) return exchange + costs.hearing_of_lanes;
  const bool is_copied = costs.lanes < costs.members;
  const double copied =
      is_copied ? (part_of_node(costs) + costs.members * costs.gap) / costs.lanes : 0;
  return costs.hearing_of_members + copied + exchange + costs.hearing_of_lanes;
}

/// Leaders read their node's part in lines, or write it to lines.
double in_lines(const LaneCosts& costs, double exchange) {
  if (costs.members == 1) return exchange;
  return costs.hearing_of_members + 2 * part_of_node(costs) + exchange;
}

using Inside = double (*)(const LaneCosts& costs, double exchange);

/// Those with others below them put their own part beside theirs.
template <Inside inside>
double along_tree(const LaneCosts& costs, double /*segments*/) {
  return inside(costs, time_of(costs, doubling(costs.steps, costs.nodes))) +
         costs.vector_copy / costs.nodes;
}

/// The root's node has all messages, any other one those of its lanes.
template <Inside inside>
double straight(const LaneCosts& costs, double /*segments*/) {
  const double of_root = (costs.nodes - 1) * costs.lanes_of_root_worker * costs.message_of_lane;
  const double of_other = costs.message;
  const double card = costs.without_own(costs.nodes) * costs.card;
  return inside(costs, costs.own_alpha + std::max({of_root, of_other, card}));
}

constexpr std::array kCandidates = {
    Candidate{"lines-binomial", along_tree<in_lines>},
    Candidate{"lines-linear", straight<in_lines>},
    Candidate{"binomial", along_tree<led>},
    Candidate{"multi-leader-linear", straight<led>},
};

}  // namespace

constinit const SelectionRule kGatherRule{select_on_one_node, kCandidates};

}  // namespace hycoll
