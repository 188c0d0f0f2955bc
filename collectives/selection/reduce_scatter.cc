// Which reduce_scatter a call uses.
//
// One node: lines while a member writes and reads no more than a few hundred bytes there, then dpml
// with a lane per worker, which passes over memory once.
//
// Several nodes: the cheapest (costs.h) of pairwise, halving and the butterfly, each of them
// through lines too, of the circulant graph and the ring.

#include <algorithm>
#include <array>

#include "collectives/selection/costs.h"
#include "collectives/selection/lanes.h"
#include "collectives/selection/rules.h"

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

/// A node's part goes with its members: a worker of several lanes has hardly more to combine than
/// others. Inputs are combined while blocks are under way, of which the first one is as large, or
/// half of all where such a worker holds up the rounds; but by the workers who combine blocks.
double with_inputs(const LaneCosts& costs, double exchange, double blocks) {
  const double hidden_in = costs.lanes_of_worker > 1 ? std::min(blocks, 2.0) : blocks;
  const double combined = costs.inputs + costs.without_own(costs.nodes) * costs.own_combine;
  return std::max(overlapped(costs.inputs, exchange, hidden_in), combined) + costs.hearing_of_lanes;
}

/// Blocks leave while inputs are combined; where a worker of several lanes keeps the others' cards
/// waiting, in a few parts.
double pairwise(const LaneCosts& costs, double segments) {
  const double parts_in_turn = std::max(1.0, costs.lanes_of_worker / 2);
  const double messages = (costs.nodes - 2) * segments;
  const double part = costs.without_own(costs.nodes);
  const double busy =
      std::max(messages * costs.message, costs.inputs + messages * costs.message_of_lane);
  return costs.alpha + part * costs.own_combine + costs.hearing_of_lanes +
         overlapped(busy, part * costs.card,
                    costs.lanes_of_worker > 1 ? parts_in_turn : costs.nodes);
}

double ring(const LaneCosts& costs, double segments) {
  const double exchange = time_of(
      costs,
      {.count = costs.nodes - 1, .part = 1 / costs.nodes, .combined = 1, .segments = segments});
  return with_inputs(costs, exchange, costs.nodes);
}

/// Rounds whose messages keep a worker so long in all. Several leaders hide their inputs well,
/// unless a worker of several lanes holds up the rounds; one has those of all members to combine.
double with_messages(const LaneCosts& costs, Rounds rounds, double messages_us) {
  rounds.lanes_of_worker = 1;
  const double busy = rounds.count * costs.own_alpha + messages_us +
                      costs.without_own(costs.nodes) * costs.own_combine;
  const double hidden_in = costs.lanes_of_worker > 1 ? 1 : costs.lanes == 1 ? 2 : 4;
  return with_inputs(costs, std::max(time_of(costs, rounds), busy), hidden_in);
}

/// Nodes that others fold into have twice as many messages. They are the first ones, so that a
/// small node is hardly one of them.
double halving_and_folding(const LaneCosts& costs, double /*segments*/) {
  const auto messages = [&](double parts) {
    return messages_of(costs, parts - 1, costs.full_steps);
  };
  const double of_folded = costs.folds ? messages(2 * costs.nodes) * costs.message_of_lane : 0;
  const double messages_us = std::max(messages(costs.nodes) * costs.message, of_folded);
  const double folding = costs.folds ? 2 * costs.alpha + costs.card +
                                           time_of(costs, {.count = 1, .part = 1, .combined = 1})
                                     : 0;
  return folding + with_messages(costs, halving(costs.full_steps, costs.partners), messages_us);
}

double circulant(const LaneCosts& costs, double /*segments*/) {
  return with_messages(costs, halving(costs.steps, costs.nodes),
                       messages_of(costs, costs.nodes - 1, 2 * costs.steps) * costs.message);
}

constexpr std::array kCandidates = {
    Candidate{"dpml-pairwise", pairwise},
    Candidate{"lines-pairwise", pairwise},
    Candidate{"lines-halving", halving_and_folding},
    Candidate{"lines-butterfly", halving_and_folding},
    Candidate{"dpml-halving", halving_and_folding},
    Candidate{"dpml-butterfly", halving_and_folding},
    Candidate{"dpml-circulant", circulant},
    Candidate{"dpml-ring", ring},
};

}  // namespace

constinit const SelectionRule kReduceScatterRule{select_on_one_node, kCandidates};

}  // namespace hycoll
