// Which allreduce a call uses.
//
// One node: lines while a member reads no more than a few hundred bytes there, or, of four members
// and more, 2 KiB; then dpml with a lane per worker, which passes over memory once.
//
// Several nodes: the cheapest (costs.h) of recursive doubling, through lines too, of halving and
// doubling, of the ring, of both in pipelined parts, of the circulant graph and of mixed radices,
// and of smp-butterfly, where a small node among large ones cannot lead lanes.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "collectives/algorithms/building_blocks/radices.h"
#include "collectives/selection/costs.h"
#include "collectives/selection/lanes.h"
#include "collectives/selection/rules.h"

namespace hycoll {
namespace {

SelectedPlan select_on_one_node(const SelectionQuery& query) {
  const Node& node = query.nodes.front().node;
  const auto others = static_cast<std::size_t>(std::max(1, node.members - 1));
  if (reads_through_lines(query, query.size_bytes * others)) {
    return {.algorithm = "lines-recursive-doubling", .lanes = 1, .workers_per_node = node.members};
  }
  const int lanes = lanes_of_only_node(query);
  return {.algorithm = "dpml-recursive-doubling",
          .lanes = lanes,
          .workers_per_node = std::max(node.members, lanes)};
}

double inside(const LaneCosts& costs) { return costs.inputs + costs.outputs; }

/// What a node that is no partner of its own hands over, and gets back.
double folding(const LaneCosts& costs) {
  if (!costs.folds) return 0;
  return time_of(costs, {.count = 1, .part = 1, .combined = 1, .lanes_of_worker = 1}) +
         time_of(costs, {.count = 1, .part = 1, .lanes_of_worker = 1});
}

/// In the last step nodes that stand for two exchange with others as long as these suffice, whose
/// messages are there already: they have not waited for anybody to fold.
double recursive_doubling(const LaneCosts& costs, double segments) {
  const bool others_suffice = costs.folds && 2 * (costs.nodes - costs.partners) <= costs.partners;
  const double ahead = others_suffice ? costs.own_alpha : 0;
  return inside(costs) + folding(costs) - ahead +
         time_of(costs,
                 {.count = costs.full_steps, .part = 1, .combined = 1, .segments = segments});
}

double halving_and_doubling(const LaneCosts& costs, double segments) {
  Rounds down = halving(costs.full_steps, costs.partners);
  Rounds up = doubling(costs.full_steps, costs.partners);
  down.segments = up.segments = segments;
  return folding(costs) + time_of(costs, down) + time_of(costs, up);
}

double halving_doubling(const LaneCosts& costs, double /*segments*/) {
  return inside(costs) + halving_and_doubling(costs, 1);
}

/// Several parts of each lane's vector are under way at once, and combined inside the nodes: about
/// half of that is hidden.
double pipelined_halving_doubling(const LaneCosts& costs, double segments) {
  return overlapped(halving_and_doubling(costs, segments), inside(costs), std::min(segments, 2.0));
}

double ring_trips(const LaneCosts& costs, double segments) {
  Rounds rounds{.count = costs.nodes - 1,
                .part = 1 / costs.nodes,
                .combined = 1,
                .segments = segments,
                .sender = Rounds::Sender::has_waited};
  const double reduced = time_of(costs, rounds);
  rounds.combined = 0;
  return reduced + time_of(costs, rounds);
}

double ring(const LaneCosts& costs, double segments) {
  return inside(costs) + ring_trips(costs, segments);
}

double pipelined_ring(const LaneCosts& costs, double segments) {
  return overlapped(ring_trips(costs, segments), inside(costs), std::min(segments, 2.0));
}

/// The blocks are combined apart from the result, to which a worker of several lanes copies those
/// of one while it waits for another.
double circulant(const LaneCosts& costs, double /*segments*/) {
  Rounds down = halving(costs.steps, costs.nodes);
  Rounds up = doubling(costs.steps, costs.nodes);
  down.sender = up.sender = Rounds::Sender::has_waited;
  return inside(costs) + time_of(costs, down) + time_of(costs, up) +
         costs.vector_copy / costs.lanes;
}

/// The further messages of a round are under way with its first one.
double mixed_radix(const LaneCosts& costs, double /*segments*/) {
  double time = inside(costs);
  double blocks = 1;
  for (const int radix : radices_of(static_cast<int>(costs.nodes))) {
    blocks *= radix;
    Rounds round{.count = 1,
                 .part = (radix - 1) / blocks,
                 .combined = 1,
                 .sender = Rounds::Sender::has_waited};
    time += time_of(costs, round);
    round.combined = 0;
    time += time_of(costs, round) + 2 * (radix - 2) * costs.message;
  }
  return time;
}

/// The members combine in levels, one pair's vectors at a time; dpml's leader with a single lane
/// combines those of all.
double smp_butterfly(const LaneCosts& costs, double /*segments*/) {
  const double levels = std::ceil(std::log2(costs.members));
  return levels * (costs.hearing_of_lanes + costs.own_combine) + halving_and_doubling(costs, 1) +
         costs.outputs;
}

constexpr std::array kCandidates = {
    Candidate{"lines-recursive-doubling", recursive_doubling},
    Candidate{"dpml-recursive-doubling", recursive_doubling},
    Candidate{"dpml-halving-doubling", halving_doubling},
    Candidate{"dpml-pipelined-halving-doubling", pipelined_halving_doubling},
    Candidate{"smp-butterfly", smp_butterfly},
    Candidate{"dpml-circulant", circulant},
    Candidate{"dpml-mixed-radix", mixed_radix},
    Candidate{"dpml-ring", ring},
    Candidate{"dpml-pipelined-ring", pipelined_ring},
};

}  // namespace

constinit const SelectionRule kAllreduceRule{select_on_one_node, kCandidates};

}  // namespace hycoll
