// Lines: broadcast of short vectors, in one cache-line transfer within the node.
//
// Idea: the root copies its input into lines, where data and signal travel together, and all others
// of its node read them. On every other node the leader receives the vector in its output and
// publishes it in lines of its own.
//
// Source: the message counters of Blue Gene/P (A. Mamidala et al., 2009, section 5) brought into
// the data.
// Steps: one transfer on a single node; those of the exchange and one otherwise.
// Serves: any shape with one lane whose leaders own a member, since leaders write lines.
//
// Example, 1 node of 3 members, root 0: member 0 writes its input to lines; 1 and 2 read them.

#include <utility>

#include "collectives/algorithms/broadcast/broadcast.h"
#include "collectives/algorithms/building_blocks/lines_phases.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// `source`, a buffer of `owner`, reaches all others of its node.
void append_publication(ScheduleBuilder& builder, LinesPhases& phases, int owner, Span source) {
  if (phases.member_count() == 1) return;
  const Span lines = phases.publish(owner, source);
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    if (member == owner) continue;
    builder.copy(phases.strand(member), span_of(builder.output(member), builder.all_chunks()),
                 lines);
  }
}

/// Nobody leaves before everybody on the node has entered, which its `owner` has if it has been
/// read from.
void append_end(LinesPhases& phases, int owner) {
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    phases.await_members_but(member, owner);
  }
}

void append_node(ScheduleBuilder& builder, LinesPhases& phases, const Exchange& exchange,
                 BroadcastVector vector) {
  const int leading = phases.leading_member();
  const int owner = vector.is_at_root() ? builder.root() : leading;
  const BufferId source = vector.is_at_root() ? builder.input(owner) : builder.output(owner);
  vector.strand = phases.strand(leading);
  vector.place = leading == builder.root() ? source : builder.output(leading);
  vector.on_arrival = [](ChunkRange) {};
  const auto publish = [&] {
    append_publication(builder, phases, owner, span_of(source, vector.chunks));
  };
  if (vector.is_at_root()) publish();
  append_broadcast_exchange(builder, exchange, vector);
  if (!vector.is_at_root()) publish();
  append_end(phases, owner);
}

}  // namespace

Schedule generate_lines_broadcast(std::string name, const Shape& shape,
                                  const GeneratorParameters& parameters) {
  const Exchange& exchange = parameters.exchange;
  HYCOLL_ASSERT(shape.lane_count() == 1, "lines serve one lane");
  const int chunk_count =
      broadcast_chunks_per_lane(exchange, shape.node_count(), parameters.segments);
  ScheduleBuilder builder(Collective::broadcast, std::move(name), shape, chunk_count,
                          parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    LinesPhases phases(builder, node, Entry::announced);
    append_node(
        builder, phases, exchange,
        broadcast_vector(builder, node, 0, parameters.segments, OnArrival::after_passing_on));
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
