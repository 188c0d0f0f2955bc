#ifndef HYCOLL_COLLECTIVES_CALLS_PER_NODE_MEMBER_H_
#define HYCOLL_COLLECTIVES_CALLS_PER_NODE_MEMBER_H_

#include <memory>

#include "collectives/calls/caller.h"
#include "collectives/job/process_group.h"
#include "collectives/node/workers.h"
#include "collectives/plans/plan_cache.h"
#include "threading/execution/deferred_run.h"
#include "threading/execution/leader_pool.h"

namespace hycoll {

/// The one member of a process in the layout `per_node`: the thread that calls is the first worker,
/// and the threads of a pool are the others.
class PerNodeMember final : public Caller {
 public:
  /// What is passed outlives the member. `announcer` and `gate` may be null.
  PerNodeMember(ProcessGroup& group, NodeWorkers& workers, PlanCache& plans,
                CallAnnouncer* announcer, CallGate* gate);

 private:
  void execute(const Plan& plan, const CallArguments& arguments) override;
  void execute_with_pool(const Plan& plan, const CallArguments& arguments, int count);
  /// Holds the plan: the pool may still work when the caller goes on.
  PoolJob::Body parts_of(const Plan& plan);
  std::shared_ptr<PoolJob> submit(const Plan& plan, const CallArguments& arguments,
                                  PoolJob::Before before) override;
  DeferredRun* defer(const Plan& plan, const CallArguments& arguments,
                     DeferredOutcome& outcome) override;
  std::unique_ptr<DrivenRun> driver(CallRuns& runs) override;
  int participants(const Plan& plan) const override;
  void execute_part(int worker, const Plan& plan, const CallArguments& arguments) override;
  Background background() noexcept override { return {pool_, deferred_, 0}; }

  NodeWorkers& workers_;
  DeferredRun deferred_;
  // Last: their threads use the others.
  LeaderPool pool_;
  ProgressKeeper keeper_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_PER_NODE_MEMBER_H_
