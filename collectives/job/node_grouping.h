#ifndef HYCOLL_COLLECTIVES_JOB_NODE_GROUPING_H_
#define HYCOLL_COLLECTIVES_JOB_NODE_GROUPING_H_

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "collectives/job/rank_map.h"
#include "core/schedule/processes.h"
#include "core/schedule/shape.h"

namespace hycoll {

/// Which processes of a communicator form a node, in the layout `processes`. The processes of a
/// node have neighbouring ranks, so that members, which are numbered node by node, are numbered
/// like the ranks. What it takes goes with the runs of neighbouring nodes of one size.
class NodeGrouping {
 public:
  /// Neighbouring nodes of so many processes each.
  struct Run {
    int first_node;
    int first_rank;
    int size;
  };

  /// Adds `count` nodes behind the others.
  void add(int size, int count = 1);

  int node_count() const noexcept { return node_count_; }
  int process_count() const noexcept { return process_count_; }
  int node_of(int rank) const;
  int size_of(int node) const { return run_of_node(node).size; }
  int first_rank_of(int node) const;
  std::span<const Run> runs() const noexcept { return runs_; }

 private:
  const Run& run_of_node(int node) const;

  std::vector<Run> runs_;
  int node_count_ = 0;
  int process_count_ = 0;
};

/// How the threads of processes are numbered, if each is a member: process by process. What it
/// takes goes with the runs of neighbouring processes with equally many.
class ThreadNumbering {
 public:
  /// Of processes of one thread each.
  static ThreadNumbering one_each(int process_count);
  /// By rank of the process, at least one.
  explicit ThreadNumbering(const RankMap& thread_counts);
  explicit ThreadNumbering(std::span<const int> thread_counts)
      : ThreadNumbering(RankMap::of(thread_counts)) {}

  int count() const noexcept { return runs_.back().first_thread; }
  int process_count() const noexcept { return runs_.back().first_process; }
  int first_of(int process) const;
  int count_of(int process) const { return run_of(process).threads; }
  bool is_one_each() const noexcept { return count() == process_count(); }
  /// The processes from `begin` to before `end` have equally many. Requires begin < end.
  bool is_constant(int begin, int end) const { return &run_of(begin) == &run_of(end - 1); }
  /// By thread.
  Processes processes() const;

 private:
  struct Run {
    int first_process;
    int first_thread;
    int threads;
  };

  const Run& run_of(int process) const;

  std::vector<Run> runs_;  // and behind them where they end
};

/// How the processes of a machine are dealt to emulated nodes.
enum class Dealing {
  blocks,  ///< As evenly as possible, in rank order.
  cyclic,  ///< One by one, in turn.
};

/// Where processes are that may form a node: by rank the number of its place, in the order in which
/// the places first occur. `machines` and `domains` tell the machine of each rank and its NUMA
/// domain there, by any numbers; without domains (of no ranks) each machine is a place. With
/// emulated_nodes = K > 0 the processes of every place are dealt to K places.
RankMap node_places(const RankMap& machines, const RankMap& domains, int emulated_nodes,
                    Dealing dealing);

/// Processes of one place that follow each other in rank order form a node: a place whose processes
/// do not becomes several nodes. Requires at least one process.
NodeGrouping group_processes(const RankMap& places);

/// The nodes, whose every thread is a member and a worker.
std::vector<EqualNodes> node_runs(const NodeGrouping& grouping, const ThreadNumbering& threads);

/// Another order of ranks: each has a number, and each number a rank.
class RankOrder {
 public:
  /// The order of the ranks themselves.
  RankOrder() = default;

  /// The order in which the ranks of each place follow each other: places as they are numbered, and
  /// ranks ascending in each. What it takes goes with the runs of the places.
  static RankOrder by_place(const RankMap& places);

  bool is_own() const noexcept { return runs_.empty(); }
  int number_of(int rank) const;
  int rank_of(int number) const;

 private:
  struct Run {
    int first_number;
    RankPattern ranks;
  };

  RankMap places_;
  std::vector<std::size_t> first_run_of_place_;
  std::vector<Run> runs_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_JOB_NODE_GROUPING_H_
