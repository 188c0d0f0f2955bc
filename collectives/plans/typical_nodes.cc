#include "collectives/plans/typical_nodes.h"

#include <algorithm>
#include <set>

namespace hycoll {
std::vector<int> typical_nodes(const Shape& shape, int root) {
  std::set<int> nodes = {shape.node_of_member(root)};
  const std::vector<int> firsts = shape.first_nodes();
  for (std::size_t run = 0; run < firsts.size(); ++run) {
    const int first = firsts[run];
    const int end = run + 1 < firsts.size() ? firsts[run + 1] : shape.node_count();
    nodes.insert({first, std::min(first + 1, end - 1), end - 1});
  }
  return {nodes.begin(), nodes.end()};
}

}  // namespace hycoll
