#ifndef HYCOLL_COLLECTIVES_PLANS_PLAN_CLASS_H_
#define HYCOLL_COLLECTIVES_PLANS_PLAN_CLASS_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "collectives/plans/plan.h"
#include "collectives/plans/plan_options.h"
#include "collectives/plans/plan_parts.h"
#include "threading/program/abridgement.h"
#include "threading/program/pair_binding.h"
#include "threading/program/program.h"
#include "threading/program/schedule_binding.h"

namespace hycoll {

/// The schedules of this process's node for all plans of a key, to be bound to ever other lengths
/// (ScheduleBinding). Thread-safe.
class PlanClass {
 public:
  /// `common` is what all nodes know alike, of the parts' key or one with the same own_key();
  /// `own`, if it is there, their own_staged(). The options outlive the class. Throws Error if an
  /// executor cannot run the plan, which all processes find alike.
  PlanClass(const PlanParts& parts, CommonNeeds common, std::optional<AbridgedPart> own);
  PlanClass(const PlanClass&) = delete;
  PlanClass& operator=(const PlanClass&) = delete;

  /// Makes `plan`, which nobody else holds, that of a query of the key, whose vector has so many
  /// bytes in all: with the programs of these workers, counted from the first of the options'. Its
  /// memory is used again. Throws StagingTooSmall if elements or blocks do not fit the staging;
  /// errors as ScheduleBinding::bind(). The plan is of no use then.
  void bind(const PlanQuery& query, std::size_t size_bytes, WorkerRange workers,
            BindingMemory& memory, Plan& plan) const;

  const PlanKey& key() const noexcept { return key_; }
  /// Of unequal pairs, whose key has no root to share a class with another, without the staging.
  const CommonNeeds& common() const noexcept { return common_; }

  /// It has been used since the last look.
  void note_use() const noexcept {
    // Threads that use it at once do not take its line from one another each time.
    if (!is_used_.load(std::memory_order_relaxed)) is_used_.store(true, std::memory_order_relaxed);
  }
  bool take_use() const noexcept { return is_used_.exchange(false, std::memory_order_relaxed); }

  /// What it takes at present. New lengths may add a little.
  std::size_t size_bytes() const noexcept;

 private:
  /// Of unequal pairs, whose usual way is by this schedule.
  void make_pairs(const Schedule& own, const PlanParts& parts);
  /// The schedule for where the buffers are, if that can be: `bind(own, needs)` is shown this
  /// node's workers' part, and what all nodes need.
  template <class Bind>
  void make_direct(const PlanParts& parts, const Bind& bind);
  void bind_crossing(const PlanQuery& query, std::size_t size_bytes, WorkerRange workers,
                     BindingMemory& memory, CrossingPrograms& programs) const;
  BindingOptions binding_options(const ProgramNeeds& needs) const;

  const PlanOptions& options_;
  const PlanKey key_;
  CommonNeeds common_;                     // of unequal pairs without their staging
  bool is_native_ = false;                 // the MPI library exchanges
  std::shared_ptr<const PairWays> pairs_;  // of unequal pairs, and then nothing else
  std::optional<ScheduleBinding> whole_;   // none where workers need what others' members pass
  std::optional<ScheduleBinding> staged_;  // there
  std::optional<ScheduleBinding> direct_;  // there, if the algorithm can
  bool is_direct_sliced_ = false;          // as the staged one is
  bool may_be_copied_ = false;             // by the kernel
  mutable std::atomic<bool> is_used_{false};
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PLANS_PLAN_CLASS_H_
