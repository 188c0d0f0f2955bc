#ifndef HYCOLL_COLLECTIVES_NODE_PROCESS_MEMBER_H_
#define HYCOLL_COLLECTIVES_NODE_PROCESS_MEMBER_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "collectives/caller.h"
#include "collectives/node_processes.h"
#include "collectives/plan_cache.h"
#include "threading/deferred_run.h"
#include "threading/leader_pool.h"

namespace hycoll {

/// The member of a process in the layout `processes`: its calling thread is the worker, or, for
/// long calls in the background, a thread beside it.
///
/// Plans in which every worker touches its own member's buffers only run on the user's buffers. The
/// others run on the process's staging memory, a part of the vector after the other: every part is
/// a run of its own on the node, so runs have numbers of their own.
class NodeProcessMember final : public Caller {
 public:
  NodeProcessMember(ProcessGroup& group, NodeProcesses& processes, PlanCache& plans,
                    CallGate* gate);

 private:
  void execute(const Plan& plan, const CallArguments& arguments) override;
  std::shared_ptr<PoolJob> submit(const Plan& plan, const CallArguments& arguments,
                                  PoolJob::Before before) override;
  DeferredRun* defer(const Plan& plan, const CallArguments& arguments,
                     DeferredOutcome& outcome) override;

  const Program& program(const Plan& plan) const;
  CallArguments next_run(const CallArguments& arguments);
  void run_here(const Plan& plan, const CallArguments& arguments);
  void run_by_elements(const Plan& plan, const CallArguments& arguments);
  void run_by_blocks(const Plan& plan, const CallArguments& arguments);
  /// Runs one part, on buffers that the node's other processes can access.
  void run_part(const PlanQuery& part, const CallArguments& arguments, const void* input,
                void* output);
  void require_staging(const PlanQuery& query, std::size_t elements) const;
  bool gets_result(const PlanQuery& query) const;

  NodeProcesses& processes_;
  RecentPlans parts_;
  int rank_;
  int member_count_;
  CallNumber run_ = 0;  // used by whoever executes
  std::shared_ptr<PoolJob> background_;
  DeferredRun deferred_;
  // Last: their threads use the others.
  LeaderPool pool_;
  ProgressKeeper keeper_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_PROCESS_MEMBER_H_
