// Which broadcast a call uses.
//
// One node: lines while a member reads no more than a few hundred bytes there, or, of four
// members and more, 2 KiB; then several leaders with a lane per worker, who all copy from the
// root's input, while of many members each copies for itself, up to some ten KiB for each of them,
// or the root alone where members are threads who are far from one another.
// Where buffers are staged only the root can copy in, so the others follow its counter, segment by
// segment.
//
// Several nodes: the cheapest (costs.h) of trees, the chain, and scatter with ring, doubling or the
// circulant graph, with leaders who copy to all or members who copy for themselves; of trees
// through lines, and of the torus.

#include <algorithm>
#include <array>

#include "collectives/algorithms/torus/torus.h"
#include "collectives/selection/costs.h"
#include "collectives/selection/lanes.h"
#include "collectives/selection/rules.h"

namespace hycoll {
namespace {

/// The segments of a vector that its root copies to staging while the others copy it out.
constexpr std::size_t kStagedSegmentBytes = 16 * 1024;
constexpr std::size_t kMaximumStagedSegments = 8;

int staged_segments(std::size_t size_bytes) {
  const std::size_t segments = size_bytes / kStagedSegmentBytes;
  return static_cast<int>(std::clamp<std::size_t>(segments, 1, kMaximumStagedSegments));
}

/// One node: leaders write the more cache lines of others the more members there are, where one who
/// copies for itself writes its own only. Long vectors are written anyway, and M members share the
/// work of M - 1.
bool copies_for_itself(const SelectionQuery& query) {
  constexpr std::size_t kBytesForEachMember = std::size_t{32} << 10;
  const auto members = static_cast<std::size_t>(query.nodes.front().node.members);
  return has_many_members(query) && query.size_bytes <= members * kBytesForEachMember;
}

SelectedPlan select_on_one_node(const SelectionQuery& query) {
  if (reads_through_lines(query, query.size_bytes)) {
    SelectedPlan plan = plan_lines(query);
    plan.algorithm = "lines-binomial";
    return plan;
  }
  SelectedPlan plan = plan_lanes(query);
  const bool is_staged = query.visibility == Visibility::staged && query.requested_lanes == 0;
  if (is_staged) {
    plan.lanes = 1;
    plan.segments = staged_segments(query.size_bytes);
  }
  const bool is_read = is_staged || (copies_for_itself(query) && !root_puts(query));
  plan.algorithm = is_read ? "shared-address-binomial" : "multi-leader-binomial";
  return plan;
}

/// What arrives in so much time and so many segments is copied meanwhile.
using Copied = double (*)(const LaneCosts& costs, double arrives, double segments);

/// Leaders copy it to the outputs of all members.
double pushed(const LaneCosts& costs, double arrives, double segments) {
  const double copies = costs.vector_copy * (costs.members - 1) / costs.lanes;
  return overlapped(arrives, copies, segments) + costs.hearing_of_lanes;
}

/// Members copy it, one lane after the other, all of which arrive at the same time.
double pulled(const LaneCosts& costs, double arrives, double segments) {
  if (costs.members == 1) return arrives + costs.hearing_of_lanes;
  const double lane_copy = costs.vector_copy / costs.lanes;
  return overlapped(arrives, lane_copy, segments) + costs.vector_copy - lane_copy +
         costs.hearing_of_lanes + costs.hearing_of_members;
}

/// They read it in lines, which the leader writes when it knows that they have entered.
double read_in_lines(const LaneCosts& costs, double arrives, double /*segments*/) {
  if (costs.members == 1) return arrives;
  return arrives + 2 * costs.vector_copy + costs.hearing_of_lanes + costs.hearing_of_members;
}

/// The same without a look at each of them.
double read_in_lines_of_tree(const LaneCosts& costs, double arrives, double segments) {
  return read_in_lines(costs, arrives, segments) - costs.hearing_of_members;
}

/// What the busiest node of a torus sends for the vector if there are as many lanes as trees.
constexpr double kSentOnTorus = 1.7;

/// Of all nodes the root's sends most, to its last child last; the first one's children have the
/// longest way.
template <Copied copied>
double binomial(const LaneCosts& costs, double segments) {
  const double sent = costs.steps * std::max(costs.card, segments * costs.message_of_lane);
  const double to_first = sent * (1 - 1 / segments) + costs.card / segments;
  const double along = (costs.full_steps - 1) * costs.card / (segments * costs.overlapping_lanes);
  const double arrives =
      std::max(to_first + along + (costs.full_steps - 1) * costs.own_alpha, sent) + costs.alpha;
  return copied(costs, arrives, segments);
}

template <Copied copied>
double chain(const LaneCosts& costs, double segments) {
  const double sent = std::max(costs.card, segments * costs.message);
  return (costs.nodes - 2) * costs.own_alpha + costs.alpha +
         (costs.nodes - 2) * costs.card / (segments * costs.overlapping_lanes) +
         copied(costs, sent, segments);
}

/// The root sends each node's block but its own.
double scattered(const LaneCosts& costs) {
  return costs.full_steps * costs.alpha + costs.without_own(costs.nodes) * costs.card;
}

template <Copied copied>
double scatter_ring(const LaneCosts& costs, double /*segments*/) {
  const double gathered = time_of(costs, {.count = costs.nodes - 1, .part = 1 / costs.nodes});
  return scattered(costs) + copied(costs, gathered, costs.nodes);
}

/// What arrives last is half of the vector.
constexpr double kDoubledParts = 2;

template <Copied copied>
double scatter_doubling(const LaneCosts& costs, double /*segments*/) {
  const double gathered = time_of(costs, doubling(costs.steps, costs.nodes));
  return scattered(costs) + copied(costs, gathered, kDoubledParts);
}

/// Long messages of nodes that have got their blocks early are in the way of others: the more, the
/// less the time between messages is that of their latency.
constexpr double kMostInTheWay = 1.8;

template <Copied copied>
double scatter_circulant(const LaneCosts& costs, double /*segments*/) {
  const double gathered = time_of(costs, doubling(costs.steps, costs.nodes));
  const double in_the_way =
      std::min(kMostInTheWay, costs.card / (2 * costs.steps * costs.own_alpha)) * costs.card;
  return scattered(costs) + in_the_way + copied(costs, gathered, kDoubledParts);
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
  const double most_sent = dimensions > 1 ? kSentOnTorus : 1;
  const double sent = std::max(std::max(most_sent, dimensions / costs.lanes) * costs.card,
                               segments * dimensions * costs.message);
  return depth * (costs.alpha + costs.card / (segments * costs.overlapping_lanes)) +
         pulled(costs, sent, segments);
}

/// As binomial trees of fewer levels, whose nodes send to more.
double knomial(const LaneCosts& costs, double /*segments*/) {
  constexpr double kFurtherChildren = 2;  // of the radix 4
  // A way to a node has a step for each digit of its number that is not 0, in the base 4.
  double levels = 0;
  for (double ones = 1; ones < costs.nodes; ones = 4 * ones + 1) ++levels;
  return read_in_lines_of_tree(costs,
                               levels * (costs.alpha + kFurtherChildren * costs.message +
                                         (kFurtherChildren + 1) * costs.card),
                               1);
}

constexpr std::array kCandidates = {
    Candidate{"lines-binomial", binomial<read_in_lines>},
    Candidate{"lines-tree-binomial", binomial<read_in_lines_of_tree>},
    Candidate{"lines-knomial", knomial},
    Candidate{"multi-leader-binomial", binomial<pushed>},
    Candidate{"multi-leader-chain", chain<pushed>},
    Candidate{"multi-leader-scatter-ring-opt", scatter_ring<pushed>},
    Candidate{"multi-leader-scatter-circulant", scatter_circulant<pushed>},
    Candidate{"shared-address-binomial", binomial<pulled>},
    Candidate{"shared-address-chain", chain<pulled>},
    Candidate{"shared-address-scatter-ring-opt", scatter_ring<pulled>},
    Candidate{"shared-address-scatter-circulant", scatter_circulant<pulled>},
    Candidate{"torus-colours", torus},
    Candidate{"multi-leader-scatter-recursive-doubling", scatter_doubling<pushed>},
    Candidate{"shared-address-scatter-recursive-doubling", scatter_doubling<pulled>},
};

}  // namespace

constinit const SelectionRule kBroadcastRule{select_on_one_node, kCandidates};

}  // namespace hycoll
