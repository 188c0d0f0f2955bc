#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_CIRCULANT_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_CIRCULANT_H_

#include <vector>

#include "collectives/algorithms/building_blocks/chunks.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// The skips of the circulant graph and, before them, the number of nodes: from `node_count` down
/// to 1: each is half of the one before, rounded up. Requires at least one node.
std::vector<int> circulant_skips(int node_count);

/// One lane's part of the vector on one node, with a part of it for each of all nodes.
struct CirculantVector {
  int lane;
  int node;
  /// The chunks of the parts of some neighbouring nodes, in order and in as few ranges as possible.
  ChunksOfParts parts;
  StrandId strand;                   ///< The leader's.
  NodeSum& sum;                      ///< The node's contribution; used up.
  const std::vector<Span>& results;  ///< Where its part ends up: spans that cover it in order.
  /// Places to combine in that have room for all parts, and that may be the sum's own if these may
  /// be written; empty: scratch is added where the sum is an input.
  std::vector<Span> accumulator = {};
};

/// Appends what the node does in the reduce-scatter: afterwards, in strand order, the result holds
/// the combination of its part of all nodes' sums. Requires at least two nodes, and a place of the
/// sum for every range of chunks over all nodes.
void append_circulant_reduce_scatter(ScheduleBuilder& builder, const CirculantVector& vector);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_CIRCULANT_H_
