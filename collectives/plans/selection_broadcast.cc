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
#include <bit>

#include "collectives/plans/selection.h"
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

}  // namespace

SelectedPlan select_broadcast(const SelectionQuery& query) {
  const std::size_t node_count = query.node_count();
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
