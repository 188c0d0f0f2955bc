#include "collectives/algorithms/scan/exchange.h"

#include "collectives/algorithms/reduce_scatter/exchange.h"

namespace hycoll {

int scan_chunks_per_lane(ScanExchange exchange, int node_count, int segments) noexcept {
  switch (exchange) {
    case ScanExchange::recursive_doubling:
    case ScanExchange::chain:
      return segments;
    case ScanExchange::pairwise:
      return node_count;
    case ScanExchange::direct:
      break;
  }
  return 1;
}

void append_scan_exchange(ScheduleBuilder& builder, ScanExchange exchange, ScanVector& vector) {
  if (builder.shape().node_count() == 1) {
    for (int s = 0; s < vector.segments; ++s) {
      vector.on_prefix(0, segment_of(vector.chunks, vector.segments, s));
    }
    return;
  }
  switch (exchange) {
    case ScanExchange::recursive_doubling:
      return append_doubling_scan(builder, vector);
    case ScanExchange::chain:
      return append_chain_scan(builder, vector);
    case ScanExchange::pairwise:
      return append_pairwise_scan(builder, vector);
    case ScanExchange::direct:
      return append_direct_scan(builder, vector);
  }
}

BufferId place_of_received(ScheduleBuilder& builder, const ScanVector& vector, int node) {
  const BufferId exclusive = vector.nodes[static_cast<std::size_t>(node)].exclusive;
  const bool is_scratch = exclusive >= 2 * builder.shape().member_count();
  return is_scratch ? exclusive
                    : builder.add_scratch(builder.shape().leader(node, vector.lane), vector.chunks);
}

}  // namespace hycoll
