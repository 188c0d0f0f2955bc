#ifndef HYCOLL_CORE_SCHEDULE_SHAPE_H_
#define HYCOLL_CORE_SCHEDULE_SHAPE_H_

#include <memory>
#include <span>
#include <vector>

#include "core/schedule/groups.h"
#include "core/schedule/processes.h"

namespace hycoll {

/// Which buffers a worker may touch.
enum class Visibility {
  direct,  ///< Every buffer of its node: threads of one process, or processes with a shared heap.
  staged,  ///< The buffers of its own process's members (Shape::process), and the node's staging.
};

/// One node: a set of workers that share memory, and the members whose buffers lie there. Member i
/// of the node is owned by its worker i, so members <= workers; further workers only help. A node
/// without members is an aggregator: its workers combine what passes through them.
struct Node {
  int members = 1;
  int workers = 1;
  friend bool operator==(const Node&, const Node&) = default;
};

/// Neighbouring equal nodes.
struct EqualNodes {
  Node node;
  int count = 1;
  friend bool operator==(const EqualNodes&, const EqualNodes&) = default;
};

/// Neighbouring nodes with the same leaders: `workers[l]` drives lane l, an index within the node.
struct EqualLeaders {
  std::vector<int> workers;
  int count = 1;
};

/// As few runs as there can be.
std::vector<EqualNodes> runs_of(std::span<const Node> nodes);
std::vector<EqualLeaders> runs_of(std::span<const std::vector<int>> leaders);  ///< By node.

/// Who takes part in a collective: everything that a generator may know. Plain, immutable data,
/// whose size goes with the runs of neighbouring nodes that are equal, led and grouped alike;
/// copies share it. What is asked about a node, member or worker, which must exist, takes a binary
/// search among the runs.
///
/// Members and workers are numbered node by node: the members of node 0, then those of node 1, and
/// so on. A member's number is its rank. Lanes are numbered 0..lane_count()-1 alike on every node.
class Shape {
 public:
  /// Requires at least one member, at least one worker on every node and 0 <= members <= workers,
  /// no more workers in all than an int counts, and lane_count >= 1; throws Error otherwise.
  /// `lane_workers[l]` is the worker (its index within the node, modulo the node's workers) that
  /// drives lane l; empty means worker l. Runs of no nodes are left out.
  Shape(std::span<const EqualNodes> nodes, int lane_count,
        Visibility visibility = Visibility::direct, std::span<const int> lane_workers = {});
  Shape(const std::vector<Node>& nodes, int lane_count, Visibility visibility = Visibility::direct,
        const std::vector<int>& lane_workers = {});

  /// `node_count` equal nodes whose every worker is a member.
  static Shape uniform(int node_count, int members, int lane_count,
                       Visibility visibility = Visibility::direct);

  /// The same shape with other leaders. Throws Error unless they are given for node_count() nodes,
  /// lane_count() workers that exist for each.
  Shape with_leaders(std::span<const EqualLeaders> leaders) const;
  /// By node.
  Shape with_leaders(const std::vector<std::vector<int>>& leaders) const;

  /// The same shape with other groups of the nodes' workers. Throws Error unless they are given for
  /// node_count() nodes, and are flat or of all of a node's workers.
  Shape with_groups(std::span<const EqualGroupings> groups) const;
  /// The same groups on every node.
  Shape with_groups(const Groups& groups) const;

  /// The same shape with another visibility.
  Shape with_visibility(Visibility visibility) const;

  /// The same shape with staged visibility, whose workers are threads of processes: any numbers
  /// from 0 on, the same for workers that share their address space, which only workers of one node
  /// do. Throws Error otherwise, or if the processes are of fewer or more workers.
  Shape with_processes(const Processes& processes) const;

  /// The same, where each process has so many neighbouring workers of a node, the last one of a
  /// node what is left. Requires thread_count >= 1.
  Shape with_processes_of(int thread_count) const;

  int node_count() const noexcept;
  int lane_count() const noexcept { return lane_count_; }
  Visibility visibility() const noexcept { return visibility_; }
  /// As with_processes() has got them; kept, and meaningless, with direct visibility.
  const Processes& processes() const noexcept { return processes_; }
  int process(int worker) const { return processes_.of(worker); }
  const Node& node(int node) const;
  /// Which of its workers are near one another.
  const Groups& groups(int node) const;
  /// The nodes, in as few runs as there can be.
  std::vector<EqualNodes> node_runs() const;
  /// The first node of every run of neighbouring nodes that are equal, led and grouped alike: what
  /// is asked of each node by itself is answered by these.
  std::vector<int> first_nodes() const;

  /// Whether some node has no members.
  bool has_aggregators() const noexcept;

  int member_count() const noexcept;
  int worker_count() const noexcept;
  int first_member(int node) const;
  int first_worker(int node) const;

  /// The worker that owns a member's buffers: it hands them in, and returns to the caller when it
  /// is done.
  int worker_of_member(int member) const;
  int node_of_member(int member) const;

  /// Whether a worker may touch the buffers of a member.
  bool reaches(int worker, int member) const;

  int node_of_worker(int worker) const;

  /// The leader: the worker that drives `lane` on `node`. A node with fewer workers than lanes
  /// gives a worker several lanes.
  int leader(int node, int lane) const;

  /// Whether they say the same.
  friend bool operator==(const Shape& a, const Shape& b) noexcept;

 private:
  class Nodes;

  void check_processes(const Processes& processes) const;

  std::shared_ptr<const Nodes> nodes_;
  int lane_count_;
  Visibility visibility_;
  Processes processes_;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_SHAPE_H_
