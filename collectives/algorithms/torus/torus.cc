#include "collectives/algorithms/torus/torus.h"

#include "core/base/errors.h"

namespace hycoll {

TorusDimensions torus_dimensions(int node_count) {
  HYCOLL_ASSERT(node_count >= 1, "a torus has a node");
  TorusDimensions best{{node_count, 1, 1}};
  const auto sum = [](const TorusDimensions& torus) {
    return torus.length[0] + torus.length[1] + torus.length[2];
  };
  for (int c = 1; c * c * c <= node_count; ++c) {
    if (node_count % c != 0) continue;
    for (int b = c; b * b <= node_count / c; ++b) {
      if (node_count / c % b != 0) continue;
      const TorusDimensions torus{{node_count / c / b, b, c}};
      if (sum(torus) < sum(best)) best = torus;
    }
  }
  return best;
}

}  // namespace hycoll
