#include "collectives/algorithms/allreduce/exchange.h"

namespace hycoll {

void append_exchange(ScheduleBuilder& builder, const Exchange& exchange, const LaneVector& vector) {
  if (builder.shape().node_count() > 1) return exchange.allreduce(builder, vector);
  if (vector.sources[0] == vector.results[0]) return;
  builder.copy(vector.strands[0], span_of(vector.results[0], vector.chunks),
               span_of(vector.sources[0], vector.chunks));
}

void append_unfold_all(ScheduleBuilder& builder, const std::vector<Partner>& partners,
                       const LaneVector& vector) {
  const auto result_of = [&](int node) {
    return span_of(vector.results[static_cast<std::size_t>(node)], vector.chunks);
  };
  for (const Partner& partner : partners) {
    if (partner.folding() < 0) continue;
    append_unfold(builder, {.lane = vector.lane, .strands = vector.strands}, partner,
                  result_of(partner.acting), result_of(partner.folding()));
  }
}

void append_reduce_and_broadcast(ScheduleBuilder& builder, const std::vector<TreePlace>& places,
                                 ChildOperand side, const LaneVector& vector) {
  for (std::size_t node = 0; node < places.size(); ++node) {
    const auto& [parent, children] = places[node];
    const StrandId strand = vector.strands[node];
    const Span result = span_of(vector.results[node], vector.chunks);
    Span held = span_of(vector.sources[node], vector.chunks);
    Span received{};
    if (!children.empty()) {
      const int leader = builder.shape().leader(static_cast<int>(node), vector.lane);
      received = span_of(builder.add_scratch(leader, vector.chunks), vector.chunks);
    }
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      builder.recv(strand, vector.lane, *child, received);
      if (side == ChildOperand::left) {
        builder.reduce(strand, {result}, {received, held});
      } else {
        builder.reduce(strand, {result}, {held, received});
      }
      held = result;
    }
    if (parent >= 0) {
      builder.send(strand, vector.lane, parent, held);
      builder.recv(strand, vector.lane, parent, result);
    }
    for (const int child : children) builder.send(strand, vector.lane, child, result);
  }
}

std::vector<BufferId> add_lane_scratch(ScheduleBuilder& builder, const LaneVector& vector) {
  std::vector<BufferId> scratch;
  for (int node = 0; node < builder.shape().node_count(); ++node) {
    const int leader = builder.shape().leader(node, vector.lane);
    scratch.push_back(builder.add_scratch(leader, vector.chunks));
  }
  return scratch;
}

}  // namespace hycoll
