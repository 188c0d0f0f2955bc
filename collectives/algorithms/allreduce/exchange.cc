#include "collectives/algorithms/allreduce/exchange.h"

namespace hycoll {

void append_exchange(ScheduleBuilder& builder, const Exchange& exchange, const LaneVector& vector) {
  if (builder.shape().node_count() > 1) return exchange.allreduce(builder, vector);
  if (vector.source == vector.result) return;
  builder.copy(vector.strand, vector.whole_result(), vector.whole_source());
}

void append_reduce_and_broadcast(ScheduleBuilder& builder, const TreePlace& place,
                                 ChildOperand side, const LaneVector& vector) {
  const auto& [parent, children] = place;
  const Span result = vector.whole_result();
  Span held = vector.whole_source();
  Span received{};
  if (!children.empty()) received = span_of(add_lane_scratch(builder, vector), vector.chunks);
  for (auto child = children.rbegin(); child != children.rend(); ++child) {
    builder.recv(vector.strand, vector.lane, *child, received);
    if (side == ChildOperand::left) {
      builder.reduce(vector.strand, {result}, {received, held});
    } else {
      builder.reduce(vector.strand, {result}, {held, received});
    }
    held = result;
  }
  if (parent >= 0) {
    builder.send(vector.strand, vector.lane, parent, held);
    builder.recv(vector.strand, vector.lane, parent, result);
  }
  for (const int child : children) builder.send(vector.strand, vector.lane, child, result);
}

BufferId add_lane_scratch(ScheduleBuilder& builder, const LaneVector& vector) {
  return builder.add_scratch(builder.shape().leader(vector.node, vector.lane), vector.chunks);
}

}  // namespace hycoll
