#include "collectives/algorithms/reduce_scatter/exchange.h"

#include "core/base/errors.h"

namespace hycoll {

void append_reduce_scatter_exchange(ScheduleBuilder& builder, const Exchange& exchange,
                                    PartedVector& vector) {
  HYCOLL_ASSERT(builder.shape().node_count() >= 2, "an exchange needs two nodes");
  exchange.reduce_scatter(builder, vector);
}

}  // namespace hycoll
