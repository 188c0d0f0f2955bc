// Which broadcast a call uses.
//
// One node: lines while a member reads no more than a few hundred bytes there, then several leaders
// with a lane per worker, who all copy from the root's input. Where buffers are staged only the
// root can copy in, so the others follow its counter, segment by segment. Several nodes, short
// vectors: one lane, lines inside the node, a binomial tree between nodes. Several nodes, longer: a
// lane per kLaneBytes over a binomial tree, which between two nodes is one message; with more nodes
// the chain once a lane is cut into as many segments as there are nodes, for then it sends
// everything once, in hardly more steps than scatter and ring, which send twice that. With fewer
// segments the binomial tree as long as its lg N messages cost less than the steps of the ring,
// then the ring.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "collectives/algorithms/parts/torus.h"
#include "collectives/plans/selection.h"
#include "collectives/plans/selection_costs.h"
#include "collectives/plans/selection_lanes.h"

namespace hycoll {
namespace {

/// The binomial tree's root sends a lane's bytes ceil(lg N) times, that of scatter and ring about
/// twice, but in N - 1 steps more, each of which costs as much time as kFewStepsBytes.
bool tree_beats_ring(std::size_t lane_bytes, std::size_t node_count) {
  const auto levels = static_cast<std::size_t>(std::bit_width(node_count - 1));
  return levels <= 2 || lane_bytes / (node_count - 1) <= kFewStepsBytes / (levels - 2);
}

/// The segments of a vector that its root copies to staging while the others copy it out.
constexpr std::size_t kStagedSegmentBytes = 16 * 1024;
constexpr std::size_t kMaximumStagedSegments = 8;

int staged_segments(std::size_t size_bytes) {
  const std::size_t segments = size_bytes / kStagedSegmentBytes;
  return static_cast<int>(std::clamp<std::size_t>(segments, 1, kMaximumStagedSegments));
}

/// Leaders copy what has arrived to the outputs of all members.
double pushed(const LaneCosts& costs) {
  return costs.vector_copy * (costs.members - 1) / costs.lanes;
}

/// Members copy what has arrived at all leaders.
double pulled(const LaneCosts& costs) { return costs.members > 1 ? costs.vector_copy : 0; }

/// What the busiest node of a torus sends for the vector if there are as many lanes as trees.
constexpr double kSentOnTorus = 1.4;

using Copies = double (*)(const LaneCosts& costs);

/// Of all nodes the root's sends most, and the last ones have the longest way.
template <Copies copies>
double binomial(const LaneCosts& costs, double segments) {
  return costs.steps * costs.alpha + costs.card / segments +
         overlapped(costs.steps * costs.card, copies(costs), segments);
}

template <Copies copies>
double chain(const LaneCosts& costs, double segments) {
  return (costs.nodes - 1) * (costs.alpha + costs.card / segments) +
         overlapped(costs.card, copies(costs), segments);
}

template <Copies copies>
double scatter_ring(const LaneCosts& costs, double /*segments*/) {
  const double gathered = costs.without_own(costs.nodes) * costs.card;
  return (costs.steps + costs.nodes - 1) * costs.alpha + gathered +
         overlapped(gathered, copies(costs), costs.nodes);
}

/// Lanes have trees of their own, of which those of one lane send along as many dimensions.
double torus(const LaneCosts& costs, double segments) {
  const TorusDimensions torus = torus_dimensions(static_cast<int>(costs.nodes));
  double depth = 1;
  double dimensions = 0;
  for (const int length : torus.length) {
    depth += length - 1;
    dimensions += length > 1 ? 1 : 0;
  }
  const double sent = std::max(kSentOnTorus, dimensions / costs.lanes) * costs.card;
  return depth * (costs.alpha + costs.card / segments) + overlapped(sent, pulled(costs), segments);
}

/// As binomial trees of fewer levels, whose nodes send to more.
double knomial(const LaneCosts& costs, double /*segments*/) {
  constexpr double kFurtherChildren = 2;  // of the radix 4
  const double levels = std::ceil(costs.steps / 2);
  return levels * (costs.alpha + kFurtherChildren * costs.message +
                   (kFurtherChildren + 1) * costs.card) +
         pulled(costs);
}

double scatter_doubling(const LaneCosts& costs, double /*segments*/) {
  return pushed(costs) + 2 * costs.steps * costs.alpha +
         costs.without_own(costs.nodes) * 2 * costs.card;
}

constexpr Candidate candidate(std::string_view algorithm, Cut cut, Candidate::Lanes lanes,
                              double (*cost)(const LaneCosts&, double)) {
  return {algorithm, OperandOrder::canonical, cut, lanes, cost};
}

constexpr std::array kCandidates = {
    candidate("lines-binomial", Cut::nothing, Candidate::Lanes::lines, binomial<pulled>),
    candidate("lines-knomial", Cut::nothing, Candidate::Lanes::lines, knomial),
    candidate("multi-leader-binomial", Cut::pipelined, Candidate::Lanes::any, binomial<pushed>),
    candidate("multi-leader-chain", Cut::pipelined, Candidate::Lanes::any, chain<pushed>),
    candidate("multi-leader-scatter-ring-opt", Cut::nothing, Candidate::Lanes::any,
              scatter_ring<pushed>),
    candidate("shared-address-binomial", Cut::pipelined, Candidate::Lanes::any, binomial<pulled>),
    candidate("shared-address-chain", Cut::pipelined, Candidate::Lanes::any, chain<pulled>),
    candidate("shared-address-scatter-ring-opt", Cut::nothing, Candidate::Lanes::any,
              scatter_ring<pulled>),
    candidate("torus-colours", Cut::pipelined, Candidate::Lanes::any, torus),
    candidate("scatter-recursive-doubling-allgather", Cut::nothing, Candidate::Lanes::one,
              scatter_doubling),
};

}  // namespace

SelectedPlan select_broadcast(const SelectionQuery& query) {
  const std::size_t node_count = query.node_count();
  if (node_count > 1 && !is_measured(query)) {
    const bool all_serve = std::has_single_bit(node_count);
    return cheapest(query, std::span(kCandidates).first(kCandidates.size() - (all_serve ? 0 : 1)));
  }
  const bool through_lines =
      node_count == 1 ? reads_through_lines(query, query.size_bytes) : leads_through_lines(query);
  SelectedPlan plan = through_lines ? plan_lines(query) : plan_lanes(query);
  plan.algorithm = through_lines ? "lines-binomial" : "multi-leader-binomial";
  if (node_count == 1) {
    const bool is_staged = query.visibility == Visibility::staged && query.requested_lanes == 0;
    if (through_lines || !is_staged) return plan;
    plan.algorithm = "shared-address-binomial";
    plan.lanes = 1;
    plan.segments = staged_segments(query.size_bytes);
    return plan;
  }
  if (through_lines) {
    plan.segments = eager_segments(query.size_bytes);
    return plan;
  }
  const std::size_t lane_bytes = query.size_bytes / static_cast<std::size_t>(plan.lanes);
  plan.segments = pipelined_segments(query, lane_bytes);
  if (node_count == 2 || lane_bytes <= kFewStepsBytes) return plan;
  if (static_cast<std::size_t>(plan.segments) >= node_count) {
    plan.algorithm = "multi-leader-chain";
  } else if (!tree_beats_ring(lane_bytes, node_count)) {
    plan.algorithm = "multi-leader-scatter-ring-opt";
    plan.segments = 1;
  }
  return plan;
}

}  // namespace hycoll
