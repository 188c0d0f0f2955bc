// Lines: allreduce of short vectors, in one cache-line transfer within the node.
//
// Idea: for short vectors the time is the number of cache-line transfers on the critical path.
// Every member copies its input into lines, memory whose every cache line carries the number of the
// call: data and signal travel together, and no flag is needed. On a single node everybody reads
// all lines and reduces for itself, in rank order, so all get the same bits. With more nodes the
// node's leader reduces, exchanges with the other leaders, and publishes the result in lines of its
// own. Nobody waits for readers: a set of lines is used again eight calls later, and by
// then everybody has left this one (docs/decisions/0015).
//
// Source: the message counters of Blue Gene/P (A. Mamidala et al., 2009, section 5) brought into
// the data, and the single
//         leader of DPML.
// Steps:  one transfer on a single node; two and the exchange otherwise.
// Cost:   each member reads n elements of every other member of its node: M (M - 1) n in all.
// Serves: any shape with one lane whose leaders own a member, since leaders read and write lines.
//
// Example, 1 node of 2 members with the values a and b: both write their line, both read the
// other's and compute ab.

#include <utility>
#include <vector>

#include "collectives/algorithms/allreduce/allreduce.h"
#include "collectives/algorithms/building_blocks/lines_phases.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

Span all_of(const ScheduleBuilder& builder, BufferId buffer) {
  return span_of(buffer, builder.all_chunks());
}

void append_single_node(ScheduleBuilder& builder, LinesPhases& phases) {
  if (phases.member_count() > 1) phases.publish_inputs();
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    phases.reduce_inputs(member, all_of(builder, builder.output(member)));
  }
}

/// Reduces the members' inputs at the node's leader. Returns where the node's sum lies.
BufferId append_node_reduction(ScheduleBuilder& builder, LinesPhases& phases) {
  const int leading = phases.leading_member();
  if (phases.member_count() == 1) return builder.input(leading);
  phases.publish_inputs(leading);
  phases.reduce_inputs(leading, all_of(builder, builder.output(leading)));
  return builder.output(leading);
}

/// Publishes the leader's result in lines; the other members copy it from there.
void append_publish(ScheduleBuilder& builder, LinesPhases& phases) {
  if (phases.member_count() == 1) return;
  const int leading = phases.leading_member();
  const Span lines = phases.publish(leading, all_of(builder, builder.output(leading)));
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    if (member == leading) continue;
    builder.copy(phases.strand(member), all_of(builder, builder.output(member)), lines);
  }
}

}  // namespace

Schedule generate_lines_allreduce(std::string name, const Shape& shape,
                                  const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "lines serve one lane");
  const int chunk_count =
      parameters.exchange.chunks_per_lane(shape.node_count(), parameters.segments);
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape, chunk_count,
                          parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    LinesPhases phases(builder, node, Entry::silent);
    if (shape.node_count() == 1) {
      append_single_node(builder, phases);
      continue;
    }
    const int leading = phases.leading_member();
    append_exchange(builder, parameters.exchange,
                    {.lane = 0,
                     .chunks = builder.all_chunks(),
                     .node = node,
                     .strand = phases.strand(leading),
                     .source = append_node_reduction(builder, phases),
                     .result = builder.output(leading)});
    append_publish(builder, phases);
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
