#include "collectives/algorithms/reduce/exchange.h"

namespace hycoll {

void append_rooted_exchange(ScheduleBuilder& builder, const Exchange& exchange,
                            RootedVector& vector) {
  if (builder.shape().node_count() > 1) return exchange.reduce(builder, vector);
  const Span sum = vector.sum.at(vector.chunks);
  if (sum != vector.result) builder.copy(vector.strand, vector.result, sum);
}

}  // namespace hycoll
