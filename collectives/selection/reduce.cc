// Which reduce a call uses.
//
// One node: lines while the root reads no more than a few hundred bytes there, or, of four members
// and more, 2 KiB; then dpml with a lane per worker, which passes over memory once. Two processes
// that stage let the root do all, as do many members whose inputs together are short.
//
// Several nodes: the cheapest (costs.h) of the binomial tree, through lines too, of halving,
// pairwise and the ring.

#include <algorithm>
#include <array>

#include "collectives/selection/costs.h"
#include "collectives/selection/lanes.h"
#include "collectives/selection/rules.h"

namespace hycoll {
namespace {

/// The longest way has floor(lg N) steps. Few nodes have to do with more than one message: those
/// with a worker for each lane are reckoned with.
double binomial(const LaneCosts& costs, double segments) {
  return costs.inputs + costs.hearing_of_lanes + costs.alpha - costs.own_alpha +
         (costs.steps - costs.full_steps) * costs.card +
         time_of(costs, {.count = costs.full_steps,
                         .part = 1,
                         .combined = 1,
                         .segments = segments,
                         .lanes_of_worker = 1});
}

/// The combined blocks come together at the root.
double gather(const LaneCosts& costs, double blocks) {
  return costs.without_own(blocks) * costs.card;
}

/// Inputs are combined while blocks are under way, of which the first one is as large; but where a
/// worker of several lanes holds up the rounds.
double with_inputs(const LaneCosts& costs, double exchange, double blocks) {
  const double hidden_in = costs.lanes_of_worker > 1 ? 1 : blocks;
  return overlapped(costs.inputs, exchange, hidden_in) + costs.hearing_of_lanes;
}

double halving_and_gather(const LaneCosts& costs, double /*segments*/) {
  const double folding = costs.folds ? time_of(costs, {.count = 1, .part = 1, .combined = 1}) : 0;
  return with_inputs(costs, folding + time_of(costs, halving(costs.full_steps, costs.partners)),
                     2) +
         time_of(costs, doubling(costs.full_steps, costs.partners));
}

double ring(const LaneCosts& costs, double segments) {
  const double exchange = time_of(
      costs,
      {.count = costs.nodes - 1, .part = 1 / costs.nodes, .combined = 1, .segments = segments});
  return with_inputs(costs, exchange, costs.nodes) + costs.alpha + gather(costs, costs.nodes);
}

/// Messages are many, or long; the root has a worker for each lane.
double pairwise(const LaneCosts& costs, double segments) {
  const double messages = (costs.nodes - 1) * segments;
  const double part = costs.without_own(costs.nodes);
  const double sent = costs.inputs + std::max(messages * costs.message, part * costs.card);
  const double gathered = std::max(messages * costs.message_of_lane, part * costs.card);
  return sent + 2 * costs.alpha + costs.hearing_of_lanes +
         overlapped(gathered, part * costs.combine, costs.lanes_of_worker);
}

constexpr std::array kCandidates = {
    Candidate{"lines-binomial", binomial},
    Candidate{"dpml-binomial", binomial},
    Candidate{"dpml-halving", halving_and_gather},
    Candidate{"dpml-pairwise", pairwise},
    Candidate{"dpml-ring", ring},
};

/// The root reads what the other one stages: each one's half would cost half a vector more. Or it
/// reads so little of many that it is done before leaders have heard of one another.
bool root_does_all(const SelectionQuery& query) {
  constexpr std::size_t kReadBytes = std::size_t{16} << 10;
  constexpr std::size_t kReadBytesStaged = std::size_t{32} << 10;
  const bool is_staged = query.visibility == Visibility::staged;
  const auto members = static_cast<std::size_t>(query.nodes.front().node.members);
  const bool is_staged_pair = is_staged && members == 2;
  const bool reads_little =
      has_many_members(query) &&
      query.size_bytes * members <= (is_staged ? kReadBytesStaged : kReadBytes);
  return query.requested_lanes == 0 && (is_staged_pair || reads_little);
}

SelectedPlan select_on_one_node(const SelectionQuery& query) {
  const auto others = static_cast<std::size_t>(most_members(query.nodes) - 1);
  const bool through_lines = reads_through_lines(query, query.size_bytes * others);
  SelectedPlan plan = through_lines ? plan_lines(query) : plan_lanes(query);
  plan.algorithm = through_lines ? "lines-binomial" : "dpml-binomial";
  if (!through_lines && root_does_all(query)) plan.lanes = 1;
  return plan;
}

}  // namespace

constinit const SelectionRule kReduceRule{select_on_one_node, kCandidates};

}  // namespace hycoll
