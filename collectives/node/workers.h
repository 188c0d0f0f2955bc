#ifndef HYCOLL_COLLECTIVES_NODE_WORKERS_H_
#define HYCOLL_COLLECTIVES_NODE_WORKERS_H_

#include <memory>
#include <span>
#include <vector>

#include "collectives/api/hycoll.h"
#include "collectives/job/node_inside.h"
#include "collectives/job/process_group.h"
#include "collectives/node/leaders.h"
#include "collectives/plans/plan_cache.h"
#include "numa/placement/memory.h"
#include "threading/execution/executor.h"
#include "threading/execution/task_kernels.h"
#include "threading/memory/node_memory.h"

namespace hycoll {

/// The workers of this process's node: their cores, executors and shared memory. What both layouts
/// share.
class NodeWorkers {
 public:
  /// Collective over the group, whose set-up it is a part of: opens its lanes. An aggregator has
  /// one worker and no members, whatever it passes.
  NodeWorkers(ProcessGroup& group, int worker_count, MemberCount members);

  int count() const noexcept { return static_cast<int>(cores_.size()); }
  /// The rank of this node's first member, or of the next one after all members; and the number of
  /// all members of all nodes.
  int first_rank() const noexcept { return first_rank_; }
  int member_count() const noexcept { return member_count_; }

  const std::vector<Core>& cores() const noexcept { return cores_; }
  const WaitPolicy& wait_policy() const noexcept { return wait_policy_; }
  NodeMemory& memory() noexcept { return memory_; }
  WorkerExecutor& executor(int worker) { return *executors_[static_cast<std::size_t>(worker)]; }
  std::span<const std::unique_ptr<WorkerExecutor>> executors() const { return executors_; }

  /// For the plan cache of these workers.
  PlanCache::Options plan_options(const ProcessGroup& group) const;

  /// Whether members may stage what others read, where they turn out to be far from one another:
  /// every worker is one, of a process that is alone.
  bool may_stage() const noexcept { return memory_.staging_bytes() > 0; }
  /// If so, whether they may find that out: nobody else needs their cores while they spin.
  bool may_measure() const noexcept { return may_measure_; }
  /// The same: for the plan caches of what they do then, through staging and where buffers are.
  PlanCache::Options staging_plan_options(const ProcessGroup& group) const;
  PlanCache::Options far_plan_options(const ProcessGroup& group) const;

  /// output = the reduction of the inputs, by all cores of the process.
  void reduce_locally(const Reducer& reducer, void* output, std::span<const void* const> inputs,
                      std::size_t count, std::size_t element_bytes) const;

 private:
  void make_task_kernels(const ProcessGroup& group);
  /// Throws Error unless the leaders that the options ask for can be placed.
  void check_leaders(const ProcessGroup& group) const;
  /// Initialises the memory that the workers share, each one's areas where it runs.
  void make_memory(const ProcessGroup& group);
  /// Exchanges who leads and is near whom, and counts sockets. Throws Error if this process cannot
  /// place its leaders.
  void agree_on_leaders(const ProcessGroup& group, MemberCount members);

  std::vector<EqualNodes> nodes_;  // those with members
  int members_here_ = 0;
  int first_rank_ = 0;
  int member_count_ = 0;
  WaitPolicy wait_policy_;
  std::vector<Core> cores_;
  int lane_count_ = 1;
  int socket_count_ = 1;
  NodeInside inside_;
  NumaBuffer block_;  // of memory_
  NodeMemory memory_;
  bool may_measure_ = false;
  std::unique_ptr<TaskKernels> helpers_;    // cores without a worker
  std::unique_ptr<TaskKernels> all_cores_;  // for what is done outside of a schedule
  std::vector<std::unique_ptr<WorkerExecutor>> executors_;
};

Communicator::Choice choice_of(const SelectedPlan& selected);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_WORKERS_H_
