#ifndef HYCOLL_COLLECTIVES_PROCESSES_NODE_GROUPING_H_
#define HYCOLL_COLLECTIVES_PROCESSES_NODE_GROUPING_H_

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

/// How the processes of a machine are dealt to emulated nodes.
enum class Dealing {
  blocks,  ///< As evenly as possible, in rank order.
  cyclic,  ///< One by one, in turn.
};

/// Where processes are that may form a node: by rank a number, equal for those of one place, the
/// smallest rank there. `machines[r]` and `domains[r]` tell the machine of rank r and its NUMA
/// domain there, by any numbers; without domains each machine is a place. With emulated_nodes = K >
/// 0 the processes of every place are dealt to K places.
std::vector<int> node_places(std::span<const int> machines, std::span<const int> domains,
                             int emulated_nodes, Dealing dealing);

/// Processes of one place that follow each other in rank order form a node: a place whose processes
/// do not becomes several nodes. Requires at least one process.
NodeGrouping group_processes(std::span<const int> places);

/// The ranks in an order in which those of each place follow each other: places by their smallest
/// rank, and ranks ascending in each. Empty if they follow each other anyway.
std::vector<int> ranks_by_place(std::span<const int> places);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PROCESSES_NODE_GROUPING_H_
