#ifndef HYCOLL_COLLECTIVES_SELECTION_H_
#define HYCOLL_COLLECTIVES_SELECTION_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/shape.h"

namespace hycoll {

/// What selection looks at. The same on all processes, so that all decide alike.
struct SelectionQuery {
  std::vector<Node> nodes;  ///< Members, and the workers that could take part, of every node.
  std::size_t size_bytes = 0;
  int requested_lanes = 0;  ///< 0: selection decides.
  std::string requested_algorithm = "auto";
};

/// What a call uses.
struct SelectedPlan {
  std::string algorithm;
  int lanes = 1;
  int workers_per_node = 1;  ///< Upper bound; a node with fewer uses all of them.
  int segments = 1;
};

/// The rule, for vectors of n bytes (docs/design.md, "Selection"; the numbers come from
/// docs/measurements.md):
///  - one node: lines while the members together read no more than kLinesReadBytes, then dpml with
///  a lane per worker.
///  - several nodes, short vectors: one lane, lines inside the node, recursive doubling between
///  nodes.
///  - several nodes, longer: dpml, with a lane per kLaneBytes up to the workers of the smallest
///  node, over
///    recursive doubling up to kRecursiveDoublingBytes per lane, then halving-doubling, and the
///    ring from kRingBlockBytes per block on.
/// Asking for lanes or an algorithm overrides that part. Throws Error when the algorithm does not
/// exist.
SelectedPlan select_allreduce(const SelectionQuery& query);

/// The segments of each message of an exchange whose messages have `message_bytes` bytes.
int segments_for(std::size_t message_bytes) noexcept;

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_SELECTION_H_
