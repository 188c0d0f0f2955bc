#include "core/network/link_loads.h"

#include <algorithm>

namespace hycoll {
namespace {

/// By vertex, the links between it and the root.
std::vector<int> depths(const NetworkTree& tree) {
  std::vector<int> depths(tree.vertices().size());
  for (const int vertex : tree.depth_first()) {
    if (vertex == tree.root()) continue;
    depths[static_cast<std::size_t>(vertex)] =
        depths[static_cast<std::size_t>(tree.at(vertex).parent)] + 1;
  }
  return depths;
}

}  // namespace

std::vector<LinkLoad> ring_loads(const NetworkTree& tree, std::span<const int> ring) {
  std::vector<LinkLoad> loads(tree.vertices().size());
  const std::vector<int> depth_of = depths(tree);
  const auto depth = [&](int vertex) { return depth_of[static_cast<std::size_t>(vertex)]; };
  for (std::size_t i = 0; i < ring.size(); ++i) {
    int sender = ring[i];
    int receiver = ring[(i + 1) % ring.size()];
    // Both climb to where their ways meet.
    while (sender != receiver) {
      if (depth(sender) >= depth(receiver)) {
        ++loads[static_cast<std::size_t>(sender)].up;
        sender = tree.at(sender).parent;
      } else {
        ++loads[static_cast<std::size_t>(receiver)].down;
        receiver = tree.at(receiver).parent;
      }
    }
  }
  return loads;
}

BusiestLink busiest_link(const NetworkTree& tree, std::span<const LinkLoad> loads) {
  BusiestLink busiest;
  for (std::size_t vertex = 0; vertex < loads.size(); ++vertex) {
    const int messages = loads[vertex].most();
    const double share = messages / tree.vertices()[vertex].capacity;
    if (share <= busiest.share) continue;
    busiest = {.vertex = static_cast<int>(vertex), .messages = messages, .share = share};
  }
  return busiest;
}

int most_messages(std::span<const LinkLoad> loads) {
  int most = 0;
  for (const LinkLoad& load : loads) most = std::max(most, load.most());
  return most;
}

}  // namespace hycoll
