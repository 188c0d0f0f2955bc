#ifndef HYCOLL_COLLECTIVES_CALLS_THREAD_MEMBER_H_
#define HYCOLL_COLLECTIVES_CALLS_THREAD_MEMBER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "collectives/calls/caller.h"
#include "collectives/plans/plan_cache.h"
#include "collectives/processes/distance_looks.h"
#include "collectives/processes/workers.h"
#include "threading/execution/deferred_run.h"
#include "threading/execution/leader_pool.h"

namespace hycoll {

/// A thread of a process that is a node by itself: a member and a worker.
///
/// Members reach each other's buffers. Where they are far from one another, what one has just
/// written is dearer to read from its cache than from memory. There, calls of vectors that caches
/// hold pass through staging that is written past the caches, as between processes: in slices, each
/// of which is a run of its own, so runs have numbers of their own. The members find out how far
/// they are from one another by themselves, in calls for which that counts.
class alignas(kCacheLineBytes) ThreadMember final : public Caller {
 public:
  /// `identity.slot` is the thread's index. What is passed by reference, or not null, outlives the
  /// member. `staging_plans` is null where members never stage.
  ThreadMember(PlanCache& plans, PlanCache* staging_plans, NodeWorkers& workers, LeaderPool& pool,
               const CallerIdentity& identity);

  /// What a keeper is to look after, and the keeper; to be set before the first call.
  DeferredRun* deferred() noexcept { return &deferred_; }
  void set_keeper(ProgressKeeper& keeper) noexcept { keeper_ = &keeper; }

  /// How long a handoff between members takes, in nanoseconds; 0: nobody knows. The same on all
  /// members, and set between the same two runs.
  double handoff_ns() const noexcept { return handoff_ns_; }
  void set_distance(double handoff_ns) noexcept;
  /// Null where members never stage, or must not measure.
  DistanceLooks* looks() noexcept { return looks_ ? &*looks_ : nullptr; }

 private:
  class SlicedRun;
  void execute(const Plan& plan, const CallArguments& arguments) override;
  void execute_like(const Plan& plan, const CallArguments& like, CallNumber call, const void* input,
                    void* output) override;
  std::shared_ptr<PoolJob> submit(const Plan& plan, const CallArguments& arguments,
                                  PoolJob::Before before) override;
  DeferredRun* defer(const Plan& plan, const CallArguments& arguments,
                     DeferredOutcome& outcome) override;
  void execute_part(int /*worker*/, const Plan& plan, const CallArguments& arguments) override {
    run_here(plan, arguments);
  }
  Background background() noexcept override { return {pool_, deferred_, index_}; }

  void provide_for(const Plan& plan, Waiting waiting) override;
  /// Before the run of a blocking call: the members may look again how far they are from one
  /// another, and change their ways.
  void look_around(const Plan& plan);

  /// The programs of a plan's slices; null if its call is one run on the members' buffers. The same
  /// on all members in a call.
  const SlicedPrograms* slices_of(const Plan& plan) const {
    return is_far_ && !plan.is_compact() ? known_slices(plan) : nullptr;
  }
  static const SlicedPrograms* known_slices(const Plan& plan);
  /// The plan that has them; null if there is none.
  PlanPointer find_staged(const Plan& plan);

  void run_here(const Plan& plan, const CallArguments& arguments);
  void run_now(const Plan& plan, const CallArguments& arguments);
  static const Program& program(const Plan& plan) { return plan.programs.front(); }

  int index_;
  NodeWorkers& workers_;
  WorkerExecutor& executor_;
  CallNumber runs_ = 0;                       ///< The number of the last one.
  std::optional<RecentPlans> staging_plans_;  // none where members never stage
  std::optional<DistanceLooks> looks_;
  double handoff_ns_ = 0;
  bool is_far_ = false;
  LeaderPool& pool_;
  DeferredRun deferred_;
  ProgressKeeper* keeper_ = nullptr;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_THREAD_MEMBER_H_
