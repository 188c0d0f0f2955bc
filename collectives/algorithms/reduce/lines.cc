// Lines: reduce of short vectors, in one cache-line transfer within the node.
//
// Idea: as in the allreduce through lines (allreduce/lines.cc) members copy their inputs into
// lines, where data and signal travel together. On a single node the root reads them and reduces;
// the others only wait until everybody has entered, which each finds in one cache line per member
// that is written anyway. With more nodes the leader of each reads the lines of its node and takes
// part in the exchange; a root that is no leader gets the result through lines of its leader.
//
// Source: the message counters of Blue Gene/P (A. Mamidala et al., 2009, section 5) brought into
// the data, and the single leader of DPML.
// Steps: one transfer on a single node; one, the exchange, and one more for a root that does not
// lead otherwise.
// Cost: (M - 1) n elements read through lines on every node.
// Serves: any shape with one lane whose leaders own a member, since leaders read lines.
//
// Example, 1 node of 3 members, root 1: members 0 and 2 write their lines; member 1 reads both and
// computes a b c, its own value in the middle.

#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/lines_phases.h"
#include "collectives/algorithms/reduce/reduce.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

/// One node: everybody's lines go to the root.
void append_single_node(ScheduleBuilder& builder, LinesPhases& phases) {
  const Span result = span_of(builder.output(builder.root()), builder.all_chunks());
  phases.publish_inputs(builder.root());
  phases.reduce_inputs(builder.root(), result);
  for (int member = 0; member < builder.shape().member_count(); ++member) {
    if (member != builder.root()) phases.await_members(member);
  }
}

/// The node's contribution, computed by the member that leads it; in `place`, unless it is the only
/// member.
NodeSum append_node_sum(ScheduleBuilder& builder, LinesPhases& phases, Span place) {
  const int leading = phases.leading_member();
  if (phases.member_count() == 1) {
    return {builder, span_of(builder.input(leading), builder.all_chunks())};
  }
  phases.publish_inputs(leading);
  phases.reduce_inputs(leading, place);
  return {builder, place};
}

Span place_of_sum(ScheduleBuilder& builder, const LinesPhases& phases) {
  const int leading = phases.leading_member();
  const int worker = builder.shape().worker_of_member(leading);
  const bool needs_scratch = leading != builder.root();
  return span_of(
      needs_scratch ? builder.add_scratch(worker, builder.all_chunks()) : builder.output(leading),
      builder.all_chunks());
}

/// The root's node, led by another member: the root gets the result through its lines.
void append_hand_over(ScheduleBuilder& builder, LinesPhases& phases, Span result) {
  const Span lines = phases.publish(phases.leading_member(), result);
  builder.copy(phases.strand(builder.root()),
               span_of(builder.output(builder.root()), builder.all_chunks()), lines);
}

/// One node of several.
void append_node(ScheduleBuilder& builder, LinesPhases& phases, int segments,
                 const Exchange& exchange) {
  const int root_node = builder.shape().node_of_member(builder.root());
  const bool is_at_root = phases.node() == root_node;
  const int leading = phases.leading_member();
  const Span place =
      phases.member_count() > 1 || is_at_root ? place_of_sum(builder, phases) : Span{};
  RootedVector vector{.lane = 0,
                      .chunks = builder.all_chunks(),
                      .segments = segments,
                      .node = phases.node(),
                      .root_node = root_node,
                      .strand = phases.strand(leading),
                      .sum = append_node_sum(builder, phases, place),
                      .result = place};
  append_rooted_exchange(builder, exchange, vector);
  if (is_at_root && leading != builder.root()) append_hand_over(builder, phases, place);
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    const bool knows = member == leading || member == builder.root();
    if (!knows) phases.await_members(member);
  }
}

}  // namespace

Schedule generate_lines_reduce(std::string name, const Shape& shape,
                               const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "lines serve one lane");
  const int segments = shape.node_count() == 1 ? 1 : parameters.segments;
  const int chunk_count = shape.node_count() == 1
                              ? 1
                              : parameters.exchange.chunks_per_lane(shape.node_count(), segments);
  ScheduleBuilder builder(Collective::reduce, std::move(name), shape, chunk_count, parameters.root,
                          parameters.nodes);
  for (const int node : builder.nodes()) {
    LinesPhases phases(builder, node, Entry::announced);
    if (shape.node_count() == 1) {
      append_single_node(builder, phases);
    } else {
      append_node(builder, phases, segments, parameters.exchange);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
