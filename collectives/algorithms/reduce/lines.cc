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

#include "collectives/algorithms/parts/lines_phases.h"
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

void append_nodes(ScheduleBuilder& builder, std::vector<LinesPhases>& nodes, int segments,
                  const Exchange& exchange) {
  const Shape& shape = builder.shape();
  const int root_node = shape.node_of_member(builder.root());
  RootedVector vector{.lane = 0,
                      .chunks = builder.all_chunks(),
                      .segments = segments,
                      .root_node = root_node,
                      .strands = {},
                      .sums = {},
                      .result = {}};
  for (LinesPhases& phases : nodes) {
    const Span place = phases.member_count() > 1 || phases.node() == root_node
                           ? place_of_sum(builder, phases)
                           : Span{};
    if (phases.node() == root_node) vector.result = place;
    vector.strands.push_back(builder.main_strand(shape.leader(phases.node(), 0)));
    vector.sums.push_back(append_node_sum(builder, phases, place));
  }
  append_rooted_exchange(builder, exchange, vector);
  for (LinesPhases& phases : nodes) {
    const bool hands_over = phases.node() == root_node && phases.leading_member() != builder.root();
    if (hands_over) {
      const Span lines = phases.publish(phases.leading_member(), vector.result);
      builder.copy(builder.main_strand(shape.worker_of_member(builder.root())),
                   span_of(builder.output(builder.root()), builder.all_chunks()), lines);
    }
    for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
      const bool knows = member == phases.leading_member() || member == builder.root();
      if (!knows) phases.await_members(member);
    }
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
  std::vector<LinesPhases> nodes = lines_phases_of_nodes(builder);
  if (shape.node_count() == 1) {
    append_single_node(builder, nodes.front());
  } else {
    append_nodes(builder, nodes, segments, parameters.exchange);
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
