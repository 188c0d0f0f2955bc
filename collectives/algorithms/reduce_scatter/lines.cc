// Lines: reduce_scatter of short vectors, in one cache-line transfer within the node.
//
// Idea: as in the allreduce through lines (allreduce/lines.cc) members copy their inputs into
// lines, where data and signal travel together. On a single node every member reads its own block
// of all lines and reduces it: then it may leave, for it has left its input behind in lines, and
// has seen that everybody has entered. With more nodes the leader of each reduces the inputs of
// its node, takes part in the exchange, and publishes the node's part in lines of its own.
//
// Source: the message counters of Blue Gene/P (A. Mamidala et al., 2009, section 5) brought into
// the data, and the single leader of DPML.
// Steps: one transfer on a single node; two and the exchange otherwise.
// Cost: each member reads its block of every other member of its node: (M - 1) n in all.
// Serves: any shape with one lane whose leaders own a member, since leaders read and write lines.
//
// Example, 1 node of 2 members: both write their lines; member 1 reads the second half of member
// 0's and adds its own.

#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/lines_phases.h"
#include "collectives/algorithms/building_blocks/shares.h"
#include "collectives/algorithms/reduce_scatter/reduce_scatter.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

Span output_of(const ScheduleBuilder& builder, int member) {
  return span_of(builder.output(member), builder.output_chunks(member));
}

void append_single_node(ScheduleBuilder& builder, LinesPhases& phases) {
  if (phases.member_count() == 1) {
    builder.copy(builder.main_strand(0), output_of(builder, 0),
                 span_of(builder.input(0), builder.all_chunks()));
    return;
  }
  phases.publish_inputs();
  for (int member = 0; member < phases.member_count(); ++member) {
    phases.reduce_inputs(member, output_of(builder, member));
  }
}

/// What a node brings into the exchange, its sum computed by the member that leads it; the result
/// is to end up in the sum's own place, unless there is only one member.
PartedVector append_node_sum(ScheduleBuilder& builder, LinesPhases& phases) {
  const int leading = phases.leading_member();
  const bool is_alone = phases.member_count() == 1;
  const BufferId place = is_alone ? builder.input(leading)
                                  : builder.add_scratch(builder.shape().worker_of_member(leading),
                                                        builder.all_chunks());
  const Span sum = span_of(place, builder.all_chunks());
  const NodeParts parts = shares_of(builder, 0);
  const Span result = is_alone ? output_of(builder, leading) : span_of(place, parts(phases.node()));
  if (!is_alone) {
    phases.publish_inputs(leading);
    phases.reduce_inputs(leading, sum);
  }
  return {.lane = 0,
          .segments = 1,
          .node = phases.node(),
          .parts = parts,
          .strand = phases.strand(leading),
          .sum = {builder, sum},
          .results = {result}};
}

/// Hands the node's part from its leader to the members.
void append_delivery(ScheduleBuilder& builder, LinesPhases& phases, Span part) {
  if (phases.member_count() == 1) return;
  const Span lines = phases.publish(phases.leading_member(), part);
  for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
    const Span output = output_of(builder, member);
    const BufferId source = member == phases.leading_member() ? part.buffer : lines.buffer;
    builder.copy(builder.main_strand(builder.shape().worker_of_member(member)), output,
                 {source, output.first_chunk, output.chunk_count});
  }
}

}  // namespace

Schedule generate_lines_reduce_scatter(std::string name, const Shape& shape,
                                       const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "lines serve one lane");
  ScheduleBuilder builder(Collective::reduce_scatter, std::move(name), shape, shape.member_count(),
                          parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    LinesPhases phases(builder, node, Entry::announced);
    if (shape.node_count() == 1) {
      append_single_node(builder, phases);
      continue;
    }
    PartedVector vector = append_node_sum(builder, phases);
    append_reduce_scatter_exchange(builder, parameters.exchange, vector);
    append_delivery(builder, phases, vector.results.front());
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
