#include "collectives/algorithms/reduce_scatter/exchange.h"

#include "core/base/errors.h"

namespace hycoll {

std::vector<ChunkRange> ranges_of_parts(const std::vector<ChunkRange>& parts, int first_node,
                                        int node_count) {
  std::vector<ChunkRange> ranges;
  for (int node = first_node; node < first_node + node_count; ++node) {
    const ChunkRange& part = parts[static_cast<std::size_t>(node)];
    if (!ranges.empty() && ranges.back().first + ranges.back().count == part.first) {
      ranges.back().count += part.count;
    } else {
      ranges.push_back(part);
    }
  }
  return ranges;
}

ChunkRange segment_of(ChunkRange part, int segment_count, int segment) {
  HYCOLL_ASSERT(part.count % segment_count == 0, "segments have the same number of chunks");
  const int size = part.count / segment_count;
  return {part.first + segment * size, size};
}

std::vector<Span> add_scratch_for(ScheduleBuilder& builder, int worker,
                                  const std::vector<ChunkRange>& ranges) {
  std::vector<Span> places;
  for (const ChunkRange& range : ranges) {
    places.push_back(span_of(builder.add_scratch(worker, range), range));
  }
  return places;
}

void append_reduce_scatter_exchange(ScheduleBuilder& builder, ReduceScatterExchange exchange,
                                    PartedVector& vector) {
  HYCOLL_ASSERT(builder.shape().node_count() >= 2, "an exchange needs two nodes");
  switch (exchange) {
    case ReduceScatterExchange::pairwise:
      return append_pairwise_reduce_scatter(builder, vector);
    case ReduceScatterExchange::ring:
      return append_ring_reduce_scatter(builder, vector);
    case ReduceScatterExchange::halving:
    case ReduceScatterExchange::butterfly:
      return append_halving_reduce_scatter(builder, exchange, vector);
  }
}

}  // namespace hycoll
