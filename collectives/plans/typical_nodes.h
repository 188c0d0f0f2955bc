#ifndef HYCOLL_COLLECTIVES_PLANS_TYPICAL_NODES_H_
#define HYCOLL_COLLECTIVES_PLANS_TYPICAL_NODES_H_

#include <vector>

#include "core/schedule/shape.h"

namespace hycoll {

/// Nodes of which, in every schedule with this shape and root, one needs as much of anything as any
/// node does: so what has to be alike on all nodes is known from these few, on every node. Of each
/// run of equal nodes the first two and the last; the root's node, the next one, and the third one
/// behind it. tests/collectives/plans/typical_nodes_test.cc proves it over the shapes of a sweep.
/// In ascending order.
std::vector<int> typical_nodes(const Shape& shape, int root);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PLANS_TYPICAL_NODES_H_
