#include "collectives/algorithms/broadcast/exchange.h"

namespace hycoll {
int broadcast_chunks_per_lane(BroadcastExchange exchange, int node_count, int segments) noexcept {
  if (node_count == 1) return 1;
  return is_tree(exchange) ? segments : node_count;
}

BroadcastVector broadcast_vector(const ScheduleBuilder& builder, int lane, int segments,
                                 OnArrival when) {
  const Shape& shape = builder.shape();
  const int per_lane = builder.chunk_count() / shape.lane_count();
  return {.lane = lane,
          .chunks = {lane * per_lane, per_lane},
          .segments = segments,
          .root_node = shape.node_of_member(builder.root()),
          .when = when,
          .strands = {},
          .places = {},
          .on_arrival = {}};
}

void append_broadcast_exchange(ScheduleBuilder& builder, BroadcastExchange exchange,
                               const BroadcastVector& vector) {
  if (builder.shape().node_count() == 1) return;
  if (exchange == BroadcastExchange::torus_colours) {
    append_broadcast_torus(builder, vector);
  } else if (is_tree(exchange)) {
    append_broadcast_tree(builder, exchange, vector);
  } else {
    append_scatter_allgather(builder, exchange, vector);
  }
}

}  // namespace hycoll
