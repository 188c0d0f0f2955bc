// DPML reduce: several leaders per node, each with a partition of the vector.
//
// Idea: the phases of the DPML allreduce (allreduce/dpml.cc) without the last one. The leader of a
// lane reduces its partition over the members of its node and combines it with the leaders of the
// same lane on the other nodes; on the root's node everything happens in the root's output. On a
// single node that is all: one pass over the inputs into the root's output, shared by all leaders.
// Members only wait until their inputs have been read.
//
// Source: M. Bayatpour et al., Scalable Reduction Collectives with Data Partitioning-based
// Multi-Leader Design, SC'17, section 4.1, restricted to a root.
// Memory passed over on a single node: M n read, n written.
// Scratch: the node's sum (n, where there are several members and no root) and what the exchange
// adds: at most 2 n.
// Serves: any shape with direct visibility. One lane: the classical single leader.
//
// Example, 2 nodes of 2 members, 2 lanes, binomial, root 0: worker 0 of each node reduces the
// lower half of both members' inputs, on node 0 into the root's output; that of node 1 sends its
// sum to that of node 0, which combines. The workers 1 do so with the upper halves.

#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/node_phases.h"
#include "collectives/algorithms/reduce/exchange.h"
#include "collectives/algorithms/reduce/reduce.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

/// When members may have their inputs back.
enum class Release {
  early,  ///< When the node's sum is there, which is not cut then.
  at_end,
};

Release release_of(const ScheduleBuilder& builder, const NodePhases& phases) {
  const bool is_cut = builder.chunk_count() > builder.shape().lane_count();
  return builder.shape().node_count() > 1 && phases.member_count() > 1 && !is_cut ? Release::early
                                                                                  : Release::at_end;
}

/// Where the lane's leader computes the node's contribution, if that is no input.
std::vector<Span> places_of_sum(ScheduleBuilder& builder, const NodePhases& phases, int lane,
                                ChunkRange chunks) {
  const Shape& shape = builder.shape();
  if (phases.node() == shape.node_of_member(builder.root())) {
    return {span_of(builder.output(builder.root()), chunks)};
  }
  if (phases.member_count() == 1) return {};
  return {span_of(builder.add_scratch(shape.leader(phases.node(), lane), chunks), chunks)};
}

/// One node in one lane.
void append_lane(ScheduleBuilder& builder, NodePhases& phases, int lane, int segments,
                 const Exchange& exchange) {
  const int per_lane = builder.chunk_count() / builder.shape().lane_count();
  const ChunkRange chunks{lane * per_lane, per_lane};
  phases.await_members(lane);
  RootedVector vector{.lane = lane,
                      .chunks = chunks,
                      .segments = segments,
                      .node = phases.node(),
                      .root_node = builder.shape().node_of_member(builder.root()),
                      .strand = phases.leader(lane),
                      .sum = {builder, phases, lane, places_of_sum(builder, phases, lane, chunks)},
                      .result = span_of(builder.output(builder.root()), chunks)};
  const bool is_early = release_of(builder, phases) == Release::early;
  if (is_early) {
    vector.sum.at(chunks);
    phases.announce(lane);
  }
  append_rooted_exchange(builder, exchange, vector);
  if (!is_early || vector.is_at_root()) phases.announce(lane);
}

}  // namespace

Schedule generate_dpml_reduce(std::string name, const Shape& shape,
                              const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct, "dpml reads its members' buffers");
  const int segments = shape.node_count() == 1 ? 1 : parameters.segments;
  const int per_lane = shape.node_count() == 1
                           ? 1
                           : parameters.exchange.chunks_per_lane(shape.node_count(), segments);
  ScheduleBuilder builder(Collective::reduce, std::move(name), shape, per_lane * shape.lane_count(),
                          parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    NodePhases phases(builder, node);
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      append_lane(builder, phases, lane, segments, parameters.exchange);
    }
    const bool is_early = release_of(builder, phases) == Release::early;
    for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
      phases.await_lanes(member, is_early && member == parameters.root ? 2 : 1);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
