#ifndef HYCOLL_COLLECTIVES_CALLS_ONE_WORKER_MEMBER_H_
#define HYCOLL_COLLECTIVES_CALLS_ONE_WORKER_MEMBER_H_

#include <memory>
#include <utility>

#include "collectives/calls/caller.h"
#include "collectives/plans/plan_cache.h"
#include "collectives/runs/run_arguments.h"
#include "threading/execution/deferred_run.h"
#include "threading/execution/executor.h"
#include "threading/execution/leader_pool.h"
#include "threading/memory/node_memory.h"

namespace hycoll {

/// A member that is one worker: the thread that calls, or, for long calls in the background, a
/// thread of a pool.
///
/// A call may take other ways than its plan says, as members find out how far they are from one
/// another, and be several runs; so runs have numbers of their own. `Self`, the class derived from
/// this one, has what differs:
///   take_turn()                 before each call, whose member may have been another one's thread
///   look_around(plan)           before the first run of a blocking call: its way may change here
///   plan_now(plan)              what the call takes
///   run_now(plan, arguments)    makes all its runs
///   next_run()                  gives a run its number
///   keeper()                    who looks after the deferred run
template <class Self>
class OneWorkerMember : public Caller {
 public:
  /// `index`: of the worker in its process. All that is passed by reference outlives the member;
  /// but the pool is used only after this constructor.
  OneWorkerMember(PlanCache& plans, NodeMemory& memory, WorkerExecutor& executor, LeaderPool& pool,
                  int index, const CallerIdentity& identity)
      : Caller(plans, memory, identity),
        executor_(executor),
        pool_(pool),
        index_(index),
        deferred_(executor) {}

 protected:
  WorkerExecutor& executor() noexcept { return executor_; }
  int index() const noexcept { return index_; }
  DeferredRun& deferred_run() noexcept { return deferred_; }
  static const Program& program(const Plan& plan) { return plan.programs.front(); }
  CallArguments as_next_run(const CallArguments& arguments) {
    return as_run(arguments, self().next_run());
  }

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }

  void execute(const Plan& plan, const CallArguments& arguments) final {
    self().take_turn();
    if (!deferred_.finished()) deferred_.finish();
    if (!is_idle()) {
      const std::shared_ptr<PoolJob> job = submit(plan, arguments, {});
      job->wait();
      return job->throw_if_failed();
    }
    execute_part(0, plan, arguments);
  }

  void execute_like(const Plan& plan, const CallArguments& like, CallNumber call, const void* input,
                    void* output) final {
    if (!deferred_.finished() || !is_idle()) {
      return Caller::execute_like(plan, like, call, input, output);
    }
    self().take_turn();
    self().look_around(plan);
    const Plan& now = self().plan_now(plan);
    if (now.crossing) return self().run_now(plan, as_like(like, call, input, output));
    executor_.run_like(program(now), like, call, self().next_run(), input, output);
  }

  std::shared_ptr<PoolJob> submit(const Plan& plan, const CallArguments& arguments,
                                  PoolJob::Before before) final {
    const auto body = [this, held = PlanPointer(&plan)](int worker, const CallArguments& own) {
      execute_part(worker, *held, own);
    };
    return hand_in(std::make_shared<PoolJob>(body, arguments, 1, std::move(before)), 1);
  }

  DeferredRun* defer(const Plan& plan, const CallArguments& arguments,
                     DeferredOutcome& outcome) final {
    const Plan& now = self().plan_now(plan);
    const bool is_one_run = !now.crossing || now.crossing->staged.run_count == 1;
    if (!plan.is_short || !is_one_run || !deferred_.finished() || !is_idle()) return nullptr;
    const Program& only = now.crossing ? now.crossing->staged.program(0, 0) : program(now);
    deferred_.start(only, as_next_run(arguments), outcome);
    if (!deferred_.finished()) self().keeper().watch();
    return &deferred_;
  }

  void execute_part(int /*worker*/, const Plan& plan, const CallArguments& arguments) final {
    if (arguments.is_blocking) self().look_around(plan);
    self().run_now(plan, arguments);
  }

  Background background() noexcept final { return {pool_, deferred_, index_}; }

  WorkerExecutor& executor_;
  LeaderPool& pool_;
  int index_;
  DeferredRun deferred_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_ONE_WORKER_MEMBER_H_
