#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_CIRCULANT_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_CIRCULANT_H_

#include <vector>

#include "collectives/algorithms/parts/node_phases.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// The skips of the circulant graph and, before them, the number of nodes: from `node_count` down
/// to 1: each is half of the one before, rounded up. Requires at least one node.
std::vector<int> circulant_skips(int node_count);

/// One lane's part of the vector on every node, with a part of it for each of them; what is indexed
/// is indexed by node.
struct CirculantVector {
  int lane;
  const std::vector<ChunkRange>& parts;  ///< What belongs to the node; in order, not empty.
  const std::vector<StrandId>& strands;  ///< The leader's strand.
  std::vector<NodeSum>& sums;            ///< The node's contribution; used up.
  /// Where the node's part ends up: spans that cover it in order.
  const std::vector<std::vector<Span>>& results;
  /// Places for the node to combine in that have room for all parts, and that may be the sum's own
  /// if these may be written; empty: scratch is added where the sum is an input.
  std::vector<std::vector<Span>> accumulators;
};

/// Appends the reduce-scatter to every node's strand: afterwards, in strand order, the result of
/// every node holds the combination of its part of all sums. Requires at least two nodes, and a
/// place of the sum for every range of ranges_of_parts over all nodes.
void append_circulant_reduce_scatter(ScheduleBuilder& builder, CirculantVector vector);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_CIRCULANT_H_
