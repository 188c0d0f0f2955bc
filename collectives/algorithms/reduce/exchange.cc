#include "collectives/algorithms/reduce/exchange.h"

#include <bit>

namespace hycoll {

int rooted_chunks_per_lane(RootedExchange exchange, int node_count, int segments) noexcept {
  switch (exchange) {
    case RootedExchange::binomial:
      return segments;
    case RootedExchange::ring:
    case RootedExchange::pairwise:
      return node_count * segments;
    case RootedExchange::halving:
      return static_cast<int>(std::bit_floor(static_cast<unsigned>(node_count)));
  }
  return 1;
}

void append_rooted_exchange(ScheduleBuilder& builder, RootedExchange exchange,
                            RootedVector& vector) {
  if (builder.shape().node_count() == 1) {
    const Span sum = vector.sums.front().at(vector.chunks);
    if (sum != vector.result) builder.copy(vector.strands.front(), vector.result, sum);
    return;
  }
  switch (exchange) {
    case RootedExchange::binomial:
      return append_binomial_reduce(builder, vector);
    case RootedExchange::ring:
    case RootedExchange::pairwise:
      return append_reduce_scatter_and_gather(builder, exchange, vector);
    case RootedExchange::halving:
      return append_halving_reduce(builder, vector);
  }
}

}  // namespace hycoll
