#ifndef HYCOLL_COLLECTIVES_CALLS_THREADS_MEMBER_H_
#define HYCOLL_COLLECTIVES_CALLS_THREADS_MEMBER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "collectives/calls/one_worker_member.h"
#include "collectives/node/distance_looks.h"
#include "collectives/node/workers.h"
#include "collectives/plans/plan_cache.h"
#include "threading/execution/deferred_run.h"
#include "threading/execution/leader_pool.h"

namespace hycoll {

/// A member in the layout `threads`: a thread of a process that is a node by itself.
///
/// Members reach each other's buffers. Where they are far from one another, what one has just
/// written is dearer to read from its cache than from memory, and what one has just read dearer to
/// write there. So there calls have other plans. What only moves is written straight to others'
/// outputs, past the caches. Other vectors that caches hold pass through staging that is written
/// past the caches, as between processes: in slices, each of which is a run of its own, so runs
/// have numbers of their own. The members find out how far they are from one another by themselves,
/// in calls for which that counts.
class ThreadsMember final : public OneWorkerMember<ThreadsMember> {
 public:
  /// The plans of members that are far from one another: through staging, and where buffers are.
  struct FarPlans {
    PlanCache& staging;
    PlanCache& direct;
  };

  /// `identity.slot` is the thread's index. What is passed by reference, or not null, outlives the
  /// member. `far` is null where members never stage.
  ThreadsMember(PlanCache& plans, const FarPlans* far, NodeWorkers& workers, LeaderPool& pool,
                const CallerIdentity& identity);

  /// What a keeper is to look after, and the keeper; to be set before the first call.
  DeferredRun* deferred() noexcept { return &deferred_run(); }
  void set_keeper(ProgressKeeper& keeper) noexcept { keeper_ = &keeper; }

  /// How long a handoff between members takes, in nanoseconds; 0: nobody knows. The same on all
  /// members, and set between the same two runs.
  double handoff_ns() const noexcept { return handoff_ns_; }
  void set_distance(double handoff_ns) noexcept;
  /// Null where members never stage, or must not measure.
  DistanceLooks* looks() noexcept { return looks_ ? &*looks_ : nullptr; }

 private:
  friend class OneWorkerMember<ThreadsMember>;
  class SlicedRun;

  static void take_turn() noexcept {}
  /// The members may look again how far they are from one another, and change their ways.
  void look_around(const Plan& plan);
  /// Another plan where members are far from one another, if there is one. The same on all members
  /// in a call.
  const Plan& plan_now(const Plan& plan) const {
    const bool has_other = is_far_ && plan.far() && *plan.far() != nullptr && !plan.is_compact();
    return has_other ? **plan.far() : plan;
  }
  void run_now(const Plan& plan, const CallArguments& arguments);
  CallNumber next_run() noexcept { return ++runs_; }
  ProgressKeeper& keeper() noexcept { return *keeper_; }

  void provide_for(const Plan& plan, Waiting waiting) override;
  /// Null if there is none.
  PlanPointer find_far(const Plan& plan);

  NodeWorkers& workers_;
  CallNumber runs_ = 0;                       ///< The number of the last one.
  std::optional<RecentPlans> staging_plans_;  // none where members never stage
  std::optional<RecentPlans> far_plans_;      // the same
  std::optional<DistanceLooks> looks_;
  double handoff_ns_ = 0;
  bool is_far_ = false;
  ProgressKeeper* keeper_ = nullptr;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_THREADS_MEMBER_H_
