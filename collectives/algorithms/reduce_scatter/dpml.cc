// DPML reduce_scatter: several leaders per node, each with a share of every node's part.
//
// Idea: a node's part are the blocks of its members, which follow each other. Every part is cut
// into as many shares as there are lanes. The leader of a lane reduces its share of every part
// over the members of its node, combines its share of the own part with what the leaders of the
// same lane on the other nodes send, and writes the result straight into the members' outputs.
// With as many lanes as members a lane's share is its own member's block. Members wait until all
// lanes are done, for until then others read their inputs.
//
// On a single node that is one pass over the inputs, shared by all leaders, and two waits for
// every other member: until it has entered and until it has read.
//
// Source: M. Bayatpour et al., Scalable Reduction Collectives with Data Partitioning-based
// Multi-Leader Design, SC'17, section 4.1, with a reduce-scatter in place of the allreduce.
// Memory passed over on a single node: M n read, n written.
// Scratch: the node's sums of what others need (at most n, where there are several members) and
// what the exchange adds: at most 2 n.
// Serves: any shape with direct visibility. In place a member's output is its own block of its
// input, which only the leaders of that block read.
//
// Example, 2 nodes of 2 members, 2 lanes: worker 0 of node 0 reduces block 2 of both members'
// inputs and sends the sum to worker 0 of node 1, gets that of block 0 from it, and reduces both
// members' block 0 and this into the output of member 0.

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/node_phases.h"
#include "collectives/algorithms/building_blocks/shares.h"
#include "collectives/algorithms/reduce_scatter/exchange.h"
#include "collectives/algorithms/reduce_scatter/reduce_scatter.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

/// Where a leader puts the sums of its node. Exchanges that hand over several parts at once need
/// them in as few pieces as possible, and overwrite them; for those that hand over segments the own
/// part is summed where the result is to be.
std::vector<Span> places_of_sums(ScheduleBuilder& builder, const NodePhases& phases, int lane,
                                 const Exchange& exchange) {
  const Shape& shape = builder.shape();
  if (phases.member_count() == 1) return {};
  const int leader = shape.leader(phases.node(), lane);
  const NodeParts parts = shares_of(builder, lane);
  const bool is_whole = exchange.segmentation == Segmentation::none;
  if (is_whole && shape.node_count() > 1) {
    return add_scratch_for(builder, leader, parts.ranges(0, shape.node_count()));
  }
  std::vector<Span> places;
  for (int node = 0; node < shape.node_count(); ++node) {
    if (node == phases.node()) {
      std::ranges::copy(outputs_in(builder, node, parts(node)), std::back_inserter(places));
    } else {
      places.push_back(span_of(builder.add_scratch(leader, parts(node)), parts(node)));
    }
  }
  return places;
}

void append_single_node(ScheduleBuilder& builder, PartedVector& vector) {
  for (const Span& piece : vector.results) {
    const Span sum = vector.sum.at({piece.first_chunk, piece.chunk_count});
    if (sum != piece) builder.copy(vector.strand, piece, sum);
  }
}

/// One node in one lane.
void append_lane(ScheduleBuilder& builder, NodePhases& phases, int lane, int segments,
                 const Exchange& exchange) {
  phases.await_members(lane);
  PartedVector vector{
      .lane = lane,
      .segments = segments,
      .node = phases.node(),
      .parts = shares_of(builder, lane),
      .strand = phases.leader(lane),
      .sum = {builder, phases, lane, places_of_sums(builder, phases, lane, exchange)},
      .results = outputs_in(builder, phases.node(), share_of(builder, phases.node(), lane))};
  if (builder.shape().node_count() == 1) {
    append_single_node(builder, vector);
  } else {
    append_reduce_scatter_exchange(builder, exchange, vector);
  }
  phases.announce(lane);
}

}  // namespace

bool serves_pairwise_reduce_scatter(const Shape& shape) {
  if (!serves_any_shape(shape)) return false;
  for (const int node : shape.first_nodes()) {
    const int members = shape.node(node).members;
    if (members > 1 && members * (shape.node_count() - 2) > shape.member_count()) return false;
  }
  return true;
}

Schedule generate_dpml_reduce_scatter(std::string name, const Shape& shape,
                                      const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct, "dpml reads its members' buffers");
  const bool is_cut =
      shape.node_count() > 1 && parameters.exchange.segmentation == Segmentation::messages;
  const int segments = is_cut ? parameters.segments : 1;
  ScheduleBuilder builder(Collective::reduce_scatter, std::move(name), shape,
                          shape.member_count() * chunks_per_block(shape) * segments,
                          parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    NodePhases phases(builder, node);
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      append_lane(builder, phases, lane, segments, parameters.exchange);
    }
    for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
      phases.await_lanes(member, 1);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
