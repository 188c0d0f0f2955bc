#ifndef HYCOLL_COLLECTIVES_CALLS_PROCESSES_MEMBER_H_
#define HYCOLL_COLLECTIVES_CALLS_PROCESSES_MEMBER_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "collectives/calls/one_worker_member.h"
#include "collectives/node/node_processes.h"
#include "collectives/plans/plan_cache.h"
#include "threading/execution/deferred_run.h"
#include "threading/execution/leader_pool.h"

namespace hycoll {

/// A member of a process in the layout `processes`, the only one or that of one of its threads: the
/// calling thread is the worker, or, for long calls in the background, a thread beside it.
///
/// Plans in which every worker touches its own member's buffers only are executed like any other.
/// In the others a vector passes through the processes' staging, a slice after the other: every
/// slice is a run of its own on the node, so runs have numbers of their own. Where all members of
/// the node pass buffers of their shared heaps, which the members find out when they meet, these
/// are read and written where they are.
class ProcessesMember final : public OneWorkerMember<ProcessesMember> {
 public:
  ProcessesMember(ProcessGroup& group, NodeProcesses& processes, PlanCache& plans, CallGate* gate,
                  int thread = 0);

 private:
  friend class OneWorkerMember<ProcessesMember>;
  class SlicedRun;
  class RunStarter;
  /// Gives each run of a call its number on the node.
  struct RunNumbers {
    ProcessesMember* member;
    CallNumber operator()() const { return member->next_run(); }
  };
  RunNumbers run_numbers() noexcept { return {this}; }

  void take_turn() { processes_.take_turn(); }
  void look_around(const Plan& plan);
  static const Plan& plan_now(const Plan& plan) noexcept { return plan; }
  void run_now(const Plan& plan, const CallArguments& arguments);
  CallNumber next_run() { return processes_.next_run(index()); }
  ProgressKeeper& keeper() noexcept { return keeper_; }

  std::unique_ptr<DrivenRun> driver(CallRuns& runs) override;
  void provide_for(const Plan& plan, Waiting waiting) override;
  /// The members provide the rest of their memory; whether all have.
  bool expand();

  /// Whether the other processes of the node can access this one's buffers.
  bool is_reached(const Plan& plan, const CallArguments& arguments) const;
  bool gets_result(const PlanQuery& query) const;

  int worker() const noexcept { return processes_.worker() + index(); }  // on its node

  const ProcessGroup& group_;
  NodeProcesses& processes_;
  // Of the memory's rest, as long as it has not been provided. The same on all members.
  bool rest_is_wished_ = false;        // by a call that could not wait for it
  std::uint32_t refused_calls_ = 0;    // since the last attempt
  std::uint32_t calls_to_refuse_ = 0;  // before the next one
  int rank_;
  Program arrival_;
  // Last: their threads use the others.
  LeaderPool pool_;
  ProgressKeeper keeper_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_PROCESSES_MEMBER_H_
