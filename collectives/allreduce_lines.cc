// Lines: allreduce of short vectors, in one cache-line transfer within the node.
//
// Idea: for short vectors the time is the number of cache-line transfers on the critical path.
// Every member copies its input into lines, memory whose every cache line carries the number of the
// call: data and signal travel together, and no flag is needed. On a single node everybody reads
// all lines and reduces for itself, in rank order, so all get the same bits. With more nodes the
// node's leader reduces, exchanges with the other leaders, and publishes the result in lines of its
// own. Nobody waits for readers: a set of lines is used again two calls later, and by then
// everybody has entered the call between.
//
// Source: the message counters of Blue Gene/P (A. Mamidala et al., 2009, section 5) brought into
// the data, and the single
//         leader of DPML.
// Steps:  one transfer on a single node; two and the exchange otherwise.
// Cost:   each member reads n elements of every other member of its node: M (M - 1) n in all.
// Serves: any shape with one lane. The exchange runs at worker 0 of the node.
//
// Example, 1 node of 2 members with the values a and b: both write their line, both read the
// other's and compute ab.

#include <utility>
#include <vector>

#include "collectives/allreduce.h"
#include "core/builder.h"
#include "core/errors.h"

namespace hycoll {
namespace {

/// The inputs of a node's members, each copied into lines of its owner. A reader takes the others'
/// from the lines and its own from the input itself.
class PublishedInputs {
 public:
  PublishedInputs(ScheduleBuilder& builder, int node) : builder_(builder), node_(node) {}

  void publish(int member) {
    const int worker = builder_.shape().worker_of_member(member);
    lines_.push_back(
        span_of(builder_.add_lines(worker, builder_.all_chunks()), builder_.all_chunks()));
    builder_.copy(builder_.main_strand(worker), lines_.back(), input(member));
  }

  std::vector<Span> sources_for(int reader) const {
    std::vector<Span> sources = lines_;
    sources[static_cast<std::size_t>(reader - builder_.shape().first_member(node_))] =
        input(reader);
    return sources;
  }

 private:
  Span input(int member) const { return span_of(builder_.input(member), builder_.all_chunks()); }

  ScheduleBuilder& builder_;
  int node_;
  std::vector<Span> lines_;  // by the member's index on the node
};

void append_single_node(ScheduleBuilder& builder) {
  PublishedInputs inputs(builder, 0);
  const int member_count = builder.shape().member_count();
  if (member_count == 1) {
    builder.copy(builder.main_strand(0), span_of(builder.output(0), builder.all_chunks()),
                 span_of(builder.input(0), builder.all_chunks()));
    return;
  }
  for (int member = 0; member < member_count; ++member) inputs.publish(member);
  for (int member = 0; member < member_count; ++member) {
    const Span output = span_of(builder.output(member), builder.all_chunks());
    builder.reduce(builder.main_strand(builder.shape().worker_of_member(member)),
                   std::span(&output, 1), inputs.sources_for(member));
  }
}

/// Reduces the members' inputs at the node's leader. Returns where the node's sum lies.
BufferId append_node_reduction(ScheduleBuilder& builder, int node) {
  const Shape& shape = builder.shape();
  const int leading_member = shape.first_member(node);
  if (shape.node(node).members == 1) return builder.input(leading_member);
  PublishedInputs inputs(builder, node);
  for (int i = 0; i < shape.node(node).members; ++i) inputs.publish(leading_member + i);
  const Span output = span_of(builder.output(leading_member), builder.all_chunks());
  builder.reduce(builder.main_strand(shape.first_worker(node)), std::span(&output, 1),
                 inputs.sources_for(leading_member));
  return output.buffer;
}

/// Publishes the leader's result in lines and copies it to the other members.
void append_publish(ScheduleBuilder& builder, int node) {
  const Shape& shape = builder.shape();
  if (shape.node(node).members == 1) return;
  const int leading_member = shape.first_member(node);
  const int leader = shape.first_worker(node);
  const Span lines = span_of(builder.add_lines(leader, builder.all_chunks()), builder.all_chunks());
  builder.copy(builder.main_strand(leader), lines,
               span_of(builder.output(leading_member), builder.all_chunks()));
  for (int i = 1; i < shape.node(node).members; ++i) {
    const int member = leading_member + i;
    builder.copy(builder.main_strand(shape.worker_of_member(member)),
                 span_of(builder.output(member), builder.all_chunks()), lines);
  }
}

}  // namespace

Schedule generate_lines_allreduce(std::string name, const Shape& shape,
                                  const AllreduceParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "lines serve one lane");
  const int chunk_count =
      chunks_per_lane(parameters.exchange, shape.node_count(), parameters.segments);
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape, chunk_count);
  if (shape.node_count() == 1) {
    append_single_node(builder);
    return std::move(builder).finish();
  }
  LaneVector vector{
      .lane = 0, .chunks = builder.all_chunks(), .strands = {}, .sources = {}, .results = {}};
  for (int node = 0; node < shape.node_count(); ++node) {
    vector.sources.push_back(append_node_reduction(builder, node));
    vector.results.push_back(builder.output(shape.first_member(node)));
    vector.strands.push_back(builder.main_strand(shape.first_worker(node)));
  }
  append_exchange(builder, parameters.exchange, vector);
  for (int node = 0; node < shape.node_count(); ++node) append_publish(builder, node);
  return std::move(builder).finish();
}

}  // namespace hycoll
