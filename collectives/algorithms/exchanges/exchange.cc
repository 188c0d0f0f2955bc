#include "collectives/algorithms/exchanges/exchange.h"

#include <array>
#include <bit>

#include "core/base/errors.h"

namespace hycoll {

std::string_view name_of(Exchange exchange) noexcept {
  constexpr std::array<std::string_view, 7> names = {
      "recursive-doubling", "ring",  "halving-doubling", "native",
      "binomial",           "chain", "aggregation-tree"};
  return names[static_cast<std::size_t>(exchange)];
}

int chunks_per_lane(Exchange exchange, int node_count, int segments) noexcept {
  switch (exchange) {
    case Exchange::ring:
      return node_count * segments;
    case Exchange::halving_doubling:
      return static_cast<int>(std::bit_floor(static_cast<unsigned>(node_count)));
    case Exchange::recursive_doubling:
      return segments;
    case Exchange::native:
    case Exchange::binomial:
    case Exchange::chain:
    case Exchange::aggregation_tree:
      break;
  }
  return 1;
}

void append_exchange(ScheduleBuilder& builder, Exchange exchange, const LaneVector& vector) {
  if (builder.shape().node_count() == 1) {
    if (vector.sources[0] != vector.results[0]) {
      builder.copy(vector.strands[0], span_of(vector.results[0], vector.chunks),
                   span_of(vector.sources[0], vector.chunks));
    }
    return;
  }
  switch (exchange) {
    case Exchange::recursive_doubling:
      return append_recursive_doubling(builder, vector);
    case Exchange::ring:
      return append_ring(builder, vector);
    case Exchange::halving_doubling:
      return append_halving_doubling(builder, vector);
    case Exchange::native:
      return append_native(builder, vector);
    case Exchange::binomial:
      return append_binomial(builder, vector);
    case Exchange::chain:
      return append_chain(builder, vector);
    case Exchange::aggregation_tree:
      return append_aggregation_tree(builder, vector);
  }
}

}  // namespace hycoll
