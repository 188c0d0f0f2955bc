#include "collectives/algorithms/reduce_scatter/exchange.h"

#include "core/base/errors.h"

namespace hycoll {

std::vector<ChunkRange> NodeParts::ranges(int first, int count) const {
  if (lie_ == Lie::together) {
    const ChunkRange last = of_(first + count - 1);
    const int begin = of_(first).first;
    return {{begin, last.first + last.count - begin}};
  }
  std::vector<ChunkRange> ranges;
  for (int node = first; node < first + count; ++node) ranges.push_back(of_(node));
  return ranges;
}

void append_reduce_scatter_exchange(ScheduleBuilder& builder, const Exchange& exchange,
                                    PartedVector& vector) {
  HYCOLL_ASSERT(builder.shape().node_count() >= 2, "an exchange needs two nodes");
  exchange.reduce_scatter(builder, vector);
}

}  // namespace hycoll
