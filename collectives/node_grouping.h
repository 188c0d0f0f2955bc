#ifndef HYCOLL_COLLECTIVES_NODE_GROUPING_H_
#define HYCOLL_COLLECTIVES_NODE_GROUPING_H_

#include <cstddef>
#include <span>
#include <utility>
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

/// How the threads of processes are numbered, if each is a member: process by process.
struct ThreadNumbering {
  /// `thread_counts[r]`: of the process with rank r, at least one.
  explicit ThreadNumbering(std::span<const int> thread_counts);

  std::vector<int> first_of_process;  ///< And the number of all threads at the end.

  int count() const noexcept { return first_of_process.back(); }
  int first_of(int process) const { return first_of_process[static_cast<std::size_t>(process)]; }
  int count_of(int process) const { return first_of(process + 1) - first_of(process); }
  bool is_one_each() const noexcept {
    return std::cmp_equal(first_of_process.size() - 1, first_of_process.back());
  }
  /// By thread.
  std::vector<int> processes() const;
};

/// Processes of one machine that follow each other in rank order form a node: a machine whose
/// processes do not becomes several nodes. `machines[r]` tells the machine of rank r, by any
/// number. With emulated_nodes = K > 0 the processes of every machine are first dealt to K
/// machines, as evenly as possible, in rank order. Requires at least one process.
NodeGrouping group_processes(std::span<const int> machines, int emulated_nodes);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_GROUPING_H_
