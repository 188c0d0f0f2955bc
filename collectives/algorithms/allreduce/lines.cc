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
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

/// Copies a member's input into lines of its owner.
Span publish_input(ScheduleBuilder& builder, int member) {
  const int worker = builder.shape().worker_of_member(member);
  const Span lines = span_of(builder.add_lines(worker, builder.all_chunks()), builder.all_chunks());
  builder.copy(builder.main_strand(worker), lines,
               span_of(builder.input(member), builder.all_chunks()));
  return lines;
}

/// Reduces the inputs of a node at one of its members: the others' from their lines, its own from
/// the input itself. `lines` are by the member's index on the node; the reader's own is not looked
/// at.
void reduce_inputs(ScheduleBuilder& builder, int node, int reader, std::vector<Span> lines) {
  const auto own = static_cast<std::size_t>(reader - builder.shape().first_member(node));
  lines[own] = span_of(builder.input(reader), builder.all_chunks());
  const Span output = span_of(builder.output(reader), builder.all_chunks());
  builder.reduce(builder.main_strand(builder.shape().worker_of_member(reader)),
                 std::span(&output, 1), lines);
}

void append_single_node(ScheduleBuilder& builder) {
  const int member_count = builder.shape().member_count();
  if (member_count == 1) {
    builder.copy(builder.main_strand(0), span_of(builder.output(0), builder.all_chunks()),
                 span_of(builder.input(0), builder.all_chunks()));
    return;
  }
  std::vector<Span> lines;
  for (int member = 0; member < member_count; ++member) {
    lines.push_back(publish_input(builder, member));
  }
  for (int member = 0; member < member_count; ++member) reduce_inputs(builder, 0, member, lines);
}

/// The member that the node's leader owns.
int leading_member(const Shape& shape, int node) {
  return shape.first_member(node) + shape.leader(node, 0) - shape.first_worker(node);
}

/// Reduces the members' inputs at the node's leader. Returns where the node's sum lies.
BufferId append_node_reduction(ScheduleBuilder& builder, int node) {
  const Shape& shape = builder.shape();
  const int leading = leading_member(shape, node);
  if (shape.node(node).members == 1) return builder.input(leading);
  std::vector<Span> lines;
  for (int i = 0; i < shape.node(node).members; ++i) {
    const int member = shape.first_member(node) + i;
    lines.push_back(member == leading ? Span{} : publish_input(builder, member));
  }
  reduce_inputs(builder, node, leading, lines);
  return builder.output(leading);
}

/// Publishes the leader's result in lines; the other members copy it from there.
void append_publish(ScheduleBuilder& builder, int node) {
  const Shape& shape = builder.shape();
  if (shape.node(node).members == 1) return;
  const int leading = leading_member(shape, node);
  const int leader = shape.leader(node, 0);
  const Span lines = span_of(builder.add_lines(leader, builder.all_chunks()), builder.all_chunks());
  builder.copy(builder.main_strand(leader), lines,
               span_of(builder.output(leading), builder.all_chunks()));
  for (int i = 0; i < shape.node(node).members; ++i) {
    const int member = shape.first_member(node) + i;
    if (member == leading) continue;
    builder.copy(builder.main_strand(shape.worker_of_member(member)),
                 span_of(builder.output(member), builder.all_chunks()), lines);
  }
}

}  // namespace

Schedule generate_lines_allreduce(std::string name, const Shape& shape,
                                  const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "lines serve one lane");
  const int chunk_count =
      parameters.exchange.chunks_per_lane(shape.node_count(), parameters.segments);
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape, chunk_count);
  if (shape.node_count() == 1) {
    append_single_node(builder);
    return std::move(builder).finish();
  }
  LaneVector vector{
      .lane = 0, .chunks = builder.all_chunks(), .strands = {}, .sources = {}, .results = {}};
  for (int node = 0; node < shape.node_count(); ++node) {
    vector.sources.push_back(append_node_reduction(builder, node));
    vector.results.push_back(builder.output(leading_member(shape, node)));
    vector.strands.push_back(builder.main_strand(shape.leader(node, 0)));
  }
  append_exchange(builder, parameters.exchange, vector);
  for (int node = 0; node < shape.node_count(); ++node) append_publish(builder, node);
  return std::move(builder).finish();
}

}  // namespace hycoll
