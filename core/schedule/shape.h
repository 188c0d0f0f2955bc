#ifndef HYCOLL_CORE_SCHEDULE_SHAPE_H_
#define HYCOLL_CORE_SCHEDULE_SHAPE_H_

#include <vector>

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

/// Who takes part in a collective: everything that a generator may know. Plain, immutable data.
///
/// Members and workers are numbered node by node: the members of node 0, then those of node 1, and
/// so on. A member's number is its rank. Lanes are numbered 0..lane_count()-1 alike on every node.
class Shape {
 public:
  /// Requires at least one member, at least one worker on every node and 0 <= members <= workers,
  /// and lane_count >= 1; throws Error otherwise. `lane_workers[l]` is the worker (its index within
  /// the node, modulo the node's workers) that drives lane l; empty means worker l.
  Shape(std::vector<Node> nodes, int lane_count, Visibility visibility = Visibility::direct,
        const std::vector<int>& lane_workers = {});

  /// `node_count` equal nodes whose every worker is a member.
  static Shape uniform(int node_count, int members, int lane_count,
                       Visibility visibility = Visibility::direct);

  /// The same shape with other leaders: `workers[n][l]` drives lane l of node n, an index within
  /// the node. Throws Error unless there are node_count() lists of lane_count() workers that exist.
  Shape with_leaders(const std::vector<std::vector<int>>& workers) const;

  /// The same shape with another visibility.
  Shape with_visibility(Visibility visibility) const;

  /// The same shape with staged visibility, whose workers are threads of processes.
  /// `processes[w]` is the process of worker w: any number from 0 on, the same for workers that
  /// share their address space, which only workers of one node do. Throws Error otherwise. Empty:
  /// every worker is a process of its own, and numbered like it.
  Shape with_processes(std::vector<int> processes) const;

  /// The same, where each process has so many neighbouring workers of a node, the last one of a
  /// node what is left. Requires thread_count >= 1.
  Shape with_processes_of(int thread_count) const;

  int node_count() const noexcept { return static_cast<int>(nodes_.size()); }
  int lane_count() const noexcept { return lane_count_; }
  Visibility visibility() const noexcept { return visibility_; }
  /// As with_processes() has got them; kept, and meaningless, with direct visibility.
  const std::vector<int>& processes() const noexcept { return processes_; }
  int process(int worker) const {
    return processes_.empty() ? worker : processes_[static_cast<std::size_t>(worker)];
  }
  const Node& node(int node) const { return nodes_[static_cast<std::size_t>(node)]; }

  /// Whether some node has no members.
  bool has_aggregators() const noexcept;

  int member_count() const noexcept { return first_member_.back(); }
  int worker_count() const noexcept { return first_worker_.back(); }
  int first_member(int node) const { return first_member_[static_cast<std::size_t>(node)]; }
  int first_worker(int node) const { return first_worker_[static_cast<std::size_t>(node)]; }

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

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<Node> nodes_;
  int lane_count_;
  Visibility visibility_;
  std::vector<int> leaders_;       // by node and lane, or empty: the default
  std::vector<int> first_member_;  // node_count + 1 entries
  std::vector<int> first_worker_;  // node_count + 1 entries
  std::vector<int> processes_;     // by worker, or empty
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_SHAPE_H_
