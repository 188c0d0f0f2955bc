#include "collectives/algorithms/scan/exchange.h"

namespace hycoll {

void append_scan_exchange(ScheduleBuilder& builder, const Exchange& exchange, ScanVector& vector) {
  if (builder.shape().node_count() > 1) return exchange.scan(builder, vector);
  for (int s = 0; s < vector.segments; ++s) {
    vector.on_prefix(segment_of(vector.chunks, vector.segments, s));
  }
}

BufferId place_of_received(ScheduleBuilder& builder, const ScanVector& vector) {
  const BufferId exclusive = vector.self.exclusive;
  const bool is_scratch =
      exclusive != kNoBuffer && builder.role_of(exclusive) == BufferRole::scratch;
  return is_scratch
             ? exclusive
             : builder.add_scratch(builder.shape().leader(vector.node, vector.lane), vector.chunks);
}

}  // namespace hycoll
