#ifndef HYCOLL_COLLECTIVES_NODE_NODE_PROCESSES_H_
#define HYCOLL_COLLECTIVES_NODE_NODE_PROCESSES_H_

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "collectives/job/node_grouping.h"
#include "collectives/job/node_inside.h"
#include "collectives/job/process_group.h"
#include "collectives/node/leaders.h"
#include "collectives/node/node_segment.h"
#include "collectives/plans/plan_cache.h"
#include "numa/topology/topology.h"
#include "threading/execution/executor.h"
#include "threading/memory/node_memory.h"
#include "threading/transport/mpi/mpi_endpoint.h"

namespace hycoll {

/// The layout `processes`: the threads of this process, or its only one, as workers of a node of
/// several processes, each of which is a member; with the segment that the processes share.
class NodeProcesses {
 public:
  /// Collective over the group, whose set-up it is a part of. `threads` of each process are
  /// members. Throws Error where the segment cannot be mapped.
  NodeProcesses(ProcessGroup& group, ThreadNumbering threads);
  ~NodeProcesses();
  NodeProcesses(const NodeProcesses&) = delete;
  NodeProcesses& operator=(const NodeProcesses&) = delete;

  /// ProcessGroup::node_places().
  const RankMap& places() const noexcept { return places_; }

  /// The first of this process's workers among those of its node, and the node.
  int worker() const noexcept { return worker_; }
  int node() const noexcept { return node_; }
  int node_count() const noexcept { return grouping_.node_count(); }

  /// LaneTransport::description() of the lanes; empty on a single node.
  const std::string& transport() const noexcept { return transport_; }

  /// The rank of this process's first member, and the number of all members.
  int first_rank() const noexcept { return first_rank_; }
  int member_count() const noexcept { return threads_.count(); }

  NodeMemory& memory() noexcept { return use_.segment->memory(); }
  /// Those of this process's workers, and their cores.
  WorkerExecutor& executor(int thread) noexcept {
    return *executors()[static_cast<std::size_t>(thread)];
  }
  std::span<const std::unique_ptr<WorkerExecutor>> executors() const {
    return use_.segment->executors();
  }
  const std::vector<Core>& cores() const noexcept { return cores_; }
  const WaitPolicy& wait_policy() const noexcept { return wait_policy_; }

  /// Whether no other communicator uses the memory and the executors.
  bool has_own_memory() const noexcept { return use_.is_own; }
  /// Whether all of the memory can be used, and not only the compact section. The same on all
  /// processes of the group.
  bool has_rest() const noexcept { return use_.has_rest; }
  /// Provides this process's part of the rest; false if there is no memory for it. Local. The
  /// processes of the group tell each other, and then call end_expansion().
  bool expand(const ProcessGroup& group);
  /// All processes have provided it; or some have not, and those that have give it back.
  void end_expansion(bool all_have) noexcept;
  /// Whether Options::Memory::in_turn is possible. The same on all processes of the group.
  bool may_share() const noexcept { return use_.may_share; }

  NodeSegment& segment() noexcept { return *use_.segment; }

  /// Before a call, if others use them too: nothing is under way, here and in the others' calls.
  void take_turn() { use_.segment->take_turn(contexts_); }
  /// The number of a thread's next run.
  CallNumber next_run(int thread) noexcept { return use_.segment->next_run(thread); }

  /// Before a blocking call that stages, of the first thread.
  void look_around(Leaving leaving) {
    use_.segment->look_around(use_.segment->last_run(0) + 1, leaving);
  }

  /// Whether the node's processes can access one another's shared heaps. The same on all of them.
  bool shares_heaps() const noexcept {
    return shareable() != nullptr && shareable()->reaches_heaps();
  }
  /// Whether the others find this process's buffer in their own mappings.
  bool is_shared(const void* buffer) const noexcept {
    return shareable() != nullptr && shareable()->is_mapped(buffer);
  }

  PlanCache::Options plan_options(const ProcessGroup& group) const;

 private:
  const NodeAddresses* shareable() const noexcept { return use_.segment->shareable(); }
  std::vector<int> neighbours_thread_counts() const;
  ExecutorOptions executor_options(const ProcessGroup& group, int thread) const;
  /// What the member of a worker of the node does, of another process, as far as that shows it.
  std::string whereabouts_of(int worker) const;
  /// Of this process's node: the rank of its first process, and its workers.
  int node_begin() const { return grouping_.first_rank_of(node_); }
  int worker_count() const;
  int thread_count() const noexcept { return static_cast<int>(cores_.size()); }
  void place_leaders(const ProcessGroup& group);
  std::vector<CorePlace> places_of(const ProcessGroup& group, std::span<const Core> cores) const;
  void open_lanes(const ProcessGroup& group);

  RankMap places_;
  NodeGrouping grouping_;
  ThreadNumbering threads_;
  int node_ = 0;
  int first_rank_ = 0;
  int worker_ = 0;
  std::shared_ptr<const MpiCommunicator> neighbours_;  // this node's; until it is set up
  std::vector<Core> cores_;                            // this process's
  std::vector<Core> node_cores_;  // of all workers of this node; until it is set up
  WaitPolicy wait_policy_;
  int lane_count_ = 1;
  std::vector<int> own_leaders_;  // this node's, by lane
  NodeInside inside_;
  SegmentUse use_;
  bool has_expanded_ = false;  // between expand() and end_expansion(), here
  std::vector<std::unique_ptr<Endpoint>> lanes_;
  std::string transport_;
  std::vector<ExecutorContext> contexts_;  // by thread of this process
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_NODE_PROCESSES_H_
