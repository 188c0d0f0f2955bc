#include "collectives/algorithms/scan/exchange.h"

namespace hycoll {

void append_scan_exchange(ScheduleBuilder& builder, const Exchange& exchange, ScanVector& vector) {
  if (builder.shape().node_count() > 1) return exchange.scan(builder, vector);
  for (int s = 0; s < vector.segments; ++s) {
    vector.on_prefix(0, segment_of(vector.chunks, vector.segments, s));
  }
}

BufferId place_of_received(ScheduleBuilder& builder, const ScanVector& vector, int node) {
  const BufferId exclusive = vector.nodes[static_cast<std::size_t>(node)].exclusive;
  const bool is_scratch =
      exclusive != kNoBuffer && builder.role_of(exclusive) == BufferRole::scratch;
  return is_scratch ? exclusive
                    : builder.add_scratch(builder.shape().leader(node, vector.lane), vector.chunks);
}

}  // namespace hycoll
