#ifndef HYCOLL_COLLECTIVES_NODE_GROUPING_H_
#define HYCOLL_COLLECTIVES_NODE_GROUPING_H_

#include <span>
#include <vector>

namespace hycoll {

/// Which processes of a communicator form a node, in the layout `processes`. The processes of a
/// node have neighbouring ranks, so that members, which are numbered node by node, are numbered
/// like the ranks.
struct NodeGrouping {
  std::vector<int> first_rank;  ///< Of each node, and the number of processes at the end.

  int node_count() const noexcept { return static_cast<int>(first_rank.size()) - 1; }
  int node_of(int rank) const;
  int size_of(int node) const;
};

/// Processes of one machine that follow each other in rank order form a node: a machine whose
/// processes do not becomes several nodes. `machines[r]` tells the machine of rank r, by any
/// number. With emulated_nodes = K > 0 the processes of every machine are first dealt to K
/// machines, as evenly as possible, in rank order. Requires at least one process.
NodeGrouping group_processes(std::span<const int> machines, int emulated_nodes);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_GROUPING_H_
