// Which scan or exscan a call uses.
//
// One node: lines while the last member reads no more than a few hundred bytes there, or, of four
// members and more, some KiB; then dpml with a lane per worker, cut into segments that stay in its
// cache.
//
// Several nodes: the cheapest (costs.h) of direct messages through lines, of recursive doubling,
// through lines too, of pairwise and the chain.

#include <algorithm>
#include <array>

#include "collectives/selection/costs.h"
#include "collectives/selection/lanes.h"
#include "collectives/selection/rules.h"

namespace hycoll {
namespace {

SelectedPlan select_on_one_node(const SelectionQuery& query) {
  const auto others = static_cast<std::size_t>(most_members(query.nodes) - 1);
  if (reads_through_lines(query, query.size_bytes * others)) {
    SelectedPlan plan = plan_lines(query);
    plan.algorithm = "lines-direct";
    return plan;
  }
  SelectedPlan plan = plan_lanes(query);
  plan.algorithm = "dpml-chain";
  plan.segments = segments_for(query.size_bytes / static_cast<std::size_t>(plan.lanes));
  return plan;
}

double direct(const LaneCosts& costs, double /*segments*/) {
  return costs.inputs + costs.prefixes + costs.alpha + (costs.nodes - 2) * costs.message +
         (costs.nodes - 1) * (costs.card + costs.combine);
}

/// Both what is before a node and what includes it are combined. Floor(lg N) rounds wait for one
/// another, and long messages of nodes that wait for nobody are in the way of others.
double doubling(const LaneCosts& costs, double segments) {
  const double in_the_way = std::min(1.0, costs.card / (costs.steps * costs.own_alpha));
  return costs.inputs + costs.prefixes + costs.steps * (segments - 1) * costs.alpha +
         costs.steps * in_the_way * costs.card +
         time_of(costs, {.count = costs.full_steps,
                         .part = 1,
                         .combined = costs.combined,
                         .lanes_of_worker = 1}) +
         costs.steps * (costs.alpha - costs.own_alpha) + costs.combine - costs.own_combine;
}

/// Each part of what is sent back depends on the one before.
double pairwise(const LaneCosts& costs, double /*segments*/) {
  const double messages = 3 * (costs.nodes - 2) * costs.message;
  const double bytes = costs.without_own(costs.nodes) * (2 * costs.card + costs.combine);
  constexpr double kPhases = 4;
  return costs.inputs + costs.prefixes + 2 * costs.alpha + overlapped(messages, bytes, kPhases);
}

/// A node combines its members' inputs first, and what they are to have while segments are under
/// way.
double chain(const LaneCosts& costs, double segments) {
  const double passed_on =
      costs.alpha + (costs.card / costs.overlapping_lanes + costs.own_combine) / segments;
  return costs.inputs + (costs.nodes - 2) * passed_on + costs.alpha +
         overlapped(costs.card, costs.own_combine + costs.handed_on + costs.prefixes, segments);
}

constexpr std::array kCandidates = {
    Candidate{"dpml-pairwise", pairwise},
    Candidate{"lines-recursive-doubling", doubling},
    Candidate{"dpml-recursive-doubling", doubling},
    Candidate{"dpml-chain", chain},
    Candidate{"lines-direct", direct},
};

}  // namespace

constinit const SelectionRule kScanRule{select_on_one_node, kCandidates};

}  // namespace hycoll
