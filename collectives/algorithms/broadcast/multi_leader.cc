// Multi-leader broadcast: every node receives the vector through several ports at once.
//
// Idea: the vector is partitioned over L lanes. The leader of a lane receives its partition, passes
// it on to the leaders of the same lane on other nodes, and writes what has arrived to the outputs
// of its node's members, all of them in one pass over memory. On the root's node, and on a single
// one, leaders do so from the root's input: all cores of the node copy, the root's too.
//
// Source: hycoll; the partitions are DPML's (M. Bayatpour et al., SC'17), and the shared address
// space is that of Blue Gene/P (A. Mamidala et al., 2009).
// Memory passed over on a single node: n read, (M - 1) n written.
// Scratch: none but that of the exchange.
// Serves: any shape with direct visibility. One lane: the classical single leader. Chunks per lane:
// those of the exchange.
//
// Example, 2 nodes of 2 members, 2 lanes, root 0, binomial: worker 0 sends the lower half of the
// root's input to worker 2 and copies it to member 1; worker 2 receives it in its member's output
// and copies it to member 3. The workers 1 and 3 do so with the upper half.

#include <utility>
#include <vector>

#include "collectives/algorithms/broadcast/broadcast.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// The lane's leader writes chunks that are at `place` to the outputs of all others.
void append_copies(ScheduleBuilder& builder, const NodePhases& phases, int lane,
                   const BroadcastPlace& place, ChunkRange chunks) {
  std::vector<Span> outputs;
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    if (member != place.member) outputs.push_back(span_of(builder.output(member), chunks));
  }
  if (outputs.empty()) return;
  builder.copy(phases.leader(lane), outputs, span_of(place.buffer, chunks));
}

/// One node in one lane.
void append_lane(ScheduleBuilder& builder, NodePhases& phases, const Exchange& exchange,
                 BroadcastVector vector) {
  const BroadcastPlace place = broadcast_place(builder, vector.node, vector.lane);
  vector.strand = phases.leader(vector.lane);
  vector.place = place.buffer;
  vector.on_arrival = [&](ChunkRange chunks) {
    append_copies(builder, phases, vector.lane, place, chunks);
  };
  if (vector.is_at_root()) {
    phases.await_member(vector.lane, builder.root());
  } else {
    phases.await_members(vector.lane);
  }
  append_broadcast_exchange(builder, exchange, vector);
  if (vector.is_at_root()) {
    phases.await_members_but(vector.lane, builder.root());
    vector.on_arrival(vector.chunks);
  }
  phases.announce(vector.lane);
}

}  // namespace

BroadcastPlace broadcast_place(const ScheduleBuilder& builder, int node, int lane) {
  const Shape& shape = builder.shape();
  if (node == shape.node_of_member(builder.root())) {
    return {.member = builder.root(), .buffer = builder.input(builder.root())};
  }
  const int holder = holding_member(shape, node, lane);
  return {.member = holder, .buffer = builder.output(holder)};
}

Schedule generate_multi_leader_broadcast(std::string name, const Shape& shape,
                                         const GeneratorParameters& parameters) {
  const Exchange& exchange = parameters.exchange;
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct,
                "leaders write to their members' outputs");
  const int per_lane = broadcast_chunks_per_lane(exchange, shape.node_count(), parameters.segments);
  ScheduleBuilder builder(Collective::broadcast, std::move(name), shape,
                          per_lane * shape.lane_count(), parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    NodePhases phases(builder, node);
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      append_lane(
          builder, phases, exchange,
          broadcast_vector(builder, node, lane, parameters.segments, OnArrival::after_passing_on));
    }
    for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
      phases.await_lanes(member, 1);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
