#include "collectives/algorithms/broadcast/exchange.h"

#include "collectives/algorithms/building_blocks/chunks.h"

namespace hycoll {

int broadcast_chunks_per_lane(const Exchange& exchange, int node_count, int segments) noexcept {
  return node_count == 1 ? 1 : exchange.chunks_per_lane(node_count, segments);
}

BroadcastVector broadcast_vector(const ScheduleBuilder& builder, int node, int lane, int segments,
                                 OnArrival when) {
  const Shape& shape = builder.shape();
  const int per_lane = builder.chunk_count() / shape.lane_count();
  return {.lane = lane,
          .chunks = {lane * per_lane, per_lane},
          .segments = segments,
          .node = node,
          .root_node = shape.node_of_member(builder.root()),
          .when = when,
          .strand = kElsewhere,
          .place = kNoBuffer,
          .on_arrival = {}};
}

void append_broadcast_exchange(ScheduleBuilder& builder, const Exchange& exchange,
                               const BroadcastVector& vector) {
  if (builder.shape().node_count() > 1) exchange.broadcast(builder, vector);
}

}  // namespace hycoll
