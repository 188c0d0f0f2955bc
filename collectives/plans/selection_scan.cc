// Which scan or exscan a call uses.
//
// One node: lines while the last member reads no more than a few hundred bytes there, or, of four
// members and more, some KiB; then dpml with a lane per worker, cut into segments that stay in its
// cache. Several nodes, short vectors: one lane, lines inside the node, and between nodes direct
// messages or, with many nodes, recursive doubling; with very many nodes and bits that are to be
// reproducible pairwise, without lines. Several nodes, longer: dpml over recursive doubling, or
// pairwise for reproducible bits; then pairwise; the chain from as many segments on as there are
// nodes, for then it sends half of that, and between two nodes always. More nodes, or more workers:
// the cheapest of these (selection_costs.h).

#include <algorithm>
#include <array>
#include <span>

#include "collectives/plans/selection.h"
#include "collectives/plans/selection_costs.h"
#include "collectives/plans/selection_lanes.h"

namespace hycoll {
namespace {

/// The most nodes that lines-direct serves.
constexpr std::size_t kMostNodesOfDirect = 64;

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

/// Short vectors between nodes.
SelectedPlan select_short(const SelectionQuery& query) {
  const bool is_canonical = query.order == OperandOrder::canonical;
  const std::size_t node_count = query.node_count();
  if (is_canonical && node_count > kMostNodesOfDirect) {
    SelectedPlan plan = plan_lanes(query);
    plan.algorithm = "dpml-pairwise";
    return plan;
  }
  SelectedPlan plan = plan_lines(query);
  const bool is_direct = is_canonical || node_count <= kMostNodesAtOnce;
  plan.algorithm = is_direct ? "lines-direct" : "lines-recursive-doubling";
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
    Candidate{"dpml-pairwise", OperandOrder::canonical, Cut::nothing, Candidate::Lanes::any,
              pairwise},
    Candidate{"lines-recursive-doubling", OperandOrder::by_rank, Cut::nothing,
              Candidate::Lanes::lines, doubling},
    Candidate{"dpml-recursive-doubling", OperandOrder::by_rank, Cut::lane, Candidate::Lanes::any,
              doubling},
    Candidate{"dpml-chain", OperandOrder::canonical, Cut::lane, Candidate::Lanes::any, chain},
    Candidate{"lines-direct", OperandOrder::canonical, Cut::nothing, Candidate::Lanes::lines,
              direct},
};

}  // namespace

SelectedPlan select_scan(const SelectionQuery& query) {
  if (query.node_count() == 1) return select_on_one_node(query);
  if (!is_measured(query)) {
    const bool all_serve = query.node_count() <= kMostNodesOfDirect;
    return cheapest(query, std::span(kCandidates).first(kCandidates.size() - (all_serve ? 0 : 1)));
  }
  if (leads_through_lines(query)) return select_short(query);
  SelectedPlan plan = plan_lanes(query);
  const std::size_t lane_bytes = query.size_bytes / static_cast<std::size_t>(plan.lanes);
  const int segments = segments_for(lane_bytes);
  if (query.node_count() == 2 || static_cast<std::size_t>(segments) > query.node_count()) {
    plan.algorithm = "dpml-chain";
    plan.segments = segments;
  } else if (lane_bytes <= kFewStepsBytes && query.order != OperandOrder::canonical) {
    plan.algorithm = "dpml-recursive-doubling";
  } else {
    plan.algorithm = "dpml-pairwise";
  }
  return plan;
}

}  // namespace hycoll
