#include "collectives/algorithms/building_blocks/exchange.h"

#include <array>
#include <bit>

namespace hycoll {

std::string_view name_of(OperandOrder order) noexcept {
  constexpr std::array<std::string_view, 3> names = {"any", "by rank", "canonical"};
  return names[static_cast<std::size_t>(order)];
}

int one_chunk(int, int) noexcept { return 1; }

int chunk_per_segment(int, int segments) noexcept { return segments; }

int chunk_per_node(int node_count, int) noexcept { return node_count; }

int chunk_per_node_and_segment(int node_count, int segments) noexcept {
  return node_count * segments;
}

int chunk_per_partner(int node_count, int) noexcept {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(node_count)));
}

}  // namespace hycoll
