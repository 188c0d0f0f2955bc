#include "collectives/plans/typical_nodes.h"

#include <algorithm>
#include <set>

namespace hycoll {
namespace {

/// Whether two nodes have as many members and workers, and the same leaders among them.
bool are_alike(const Shape& shape, int one, int other) {
  if (!(shape.node(one) == shape.node(other))) return false;
  for (int lane = 0; lane < shape.lane_count(); ++lane) {
    const int leader = shape.leader(one, lane) - shape.first_worker(one);
    if (leader != shape.leader(other, lane) - shape.first_worker(other)) return false;
  }
  return true;
}

}  // namespace

std::vector<int> typical_nodes(const Shape& shape, int root) {
  std::set<int> nodes = {shape.node_of_member(root)};
  for (int first = 0; first < shape.node_count();) {
    int end = first + 1;
    while (end < shape.node_count() && are_alike(shape, first, end)) ++end;
    nodes.insert({first, std::min(first + 1, end - 1), end - 1});
    first = end;
  }
  return {nodes.begin(), nodes.end()};
}

}  // namespace hycoll
