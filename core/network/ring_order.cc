#include "core/network/ring_order.h"

#include <algorithm>

namespace hycoll {

std::vector<int> ring_order(const NetworkTree& tree, std::span<const int> hosts) {
  std::vector<bool> is_in_ring(tree.vertices().size());
  for (const int host : hosts) is_in_ring[static_cast<std::size_t>(host)] = true;
  std::vector<int> ring = tree.depth_first();
  std::erase_if(ring, [&](int vertex) { return !is_in_ring[static_cast<std::size_t>(vertex)]; });
  // Where a ring begins does not matter.
  if (!hosts.empty()) std::ranges::rotate(ring, std::ranges::find(ring, hosts.front()));
  return ring;
}

}  // namespace hycoll
