#include "collectives/plans/typical_nodes.h"

#include <algorithm>
#include <set>

namespace hycoll {
std::vector<int> typical_nodes(const Shape& shape, int root) {
  const int root_node = shape.node_of_member(root);
  const auto behind_root = [&](int distance) {
    return (root_node + distance) % shape.node_count();
  };
  // Of a binary tree whose places are counted from the root's on, one of the first two levels each.
  std::set<int> nodes = {root_node, behind_root(1), behind_root(3)};
  const std::vector<int> firsts = shape.first_nodes();
  for (std::size_t run = 0; run < firsts.size(); ++run) {
    const int first = firsts[run];
    const int end = run + 1 < firsts.size() ? firsts[run + 1] : shape.node_count();
    nodes.insert({first, std::min(first + 1, end - 1), end - 1});
  }
  return {nodes.begin(), nodes.end()};
}

}  // namespace hycoll
