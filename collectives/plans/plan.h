#ifndef HYCOLL_COLLECTIVES_PLANS_PLAN_H_
#define HYCOLL_COLLECTIVES_PLANS_PLAN_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/plans/plan_account.h"
#include "collectives/plans/unequal_pairs.h"
#include "collectives/selection/kernel_copies.h"
#include "collectives/selection/selection.h"
#include "threading/memory/node_memory.h"
#include "threading/program/program.h"
#include "threading/program/staging_slices.h"

namespace hycoll {

/// Everything of a call that its schedule and programs depend on.
struct PlanQuery {
  Collective collective = Collective::allreduce;
  OperandOrder order = OperandOrder::any;
  NativeReduction native = NativeReduction::possible;
  int root = 0;
  std::size_t element_bytes = 1;
  VectorExtent extent;
  /// An all-to-all whose blocks only the two members of a pair know: the extent says nothing.
  bool has_unequal_pairs = false;
};

/// The programs of workers of this process in a plan in which workers need what other workers'
/// members pass, where the workers are processes.
struct CrossingPrograms {
  /// Through staging: whatever the members pass.
  SlicedPrograms staged;
  /// Where they are: if the node's processes can access all buffers of all of them. On a single
  /// node perhaps by another algorithm. With other nodes, in the same slices, so that each node may
  /// do as it can. None where the algorithm cannot do that in slices.
  std::optional<SlicedPrograms> direct;
  /// Where the direct ones are to run wherever the buffers are, for the kernel copies between
  /// processes. The same on all processes of the node.
  KernelCopies copies = KernelCopies::never;
};

struct Plan;

/// Holds a plan: as long as anybody does, the plan stays as it is.
class PlanPointer {
 public:
  PlanPointer() noexcept = default;
  PlanPointer(const Plan* plan) noexcept;  // implicit, as from a reference that others hold
  PlanPointer(const PlanPointer& other) noexcept : PlanPointer(other.plan_) {}
  PlanPointer(PlanPointer&& other) noexcept : plan_(std::exchange(other.plan_, nullptr)) {}
  PlanPointer& operator=(PlanPointer other) noexcept {
    std::swap(plan_, other.plan_);
    return *this;
  }
  ~PlanPointer() {
    if (plan_ != nullptr) release();
  }

  const Plan* get() const noexcept { return plan_; }
  const Plan& operator*() const noexcept { return *plan_; }
  const Plan* operator->() const noexcept { return plan_; }
  friend bool operator==(const PlanPointer& pointer, const Plan* plan) noexcept {
    return pointer.plan_ == plan;
  }

  /// The plan, if nobody else holds it: it may become that of another query then. Null otherwise.
  Plan* get_if_alone() const noexcept;

 private:
  void release() noexcept;

  const Plan* plan_ = nullptr;
};

/// One query's way through a collective on this node: what was selected, and the programs of some
/// workers of this process. Made, and bound to another query, by one caller; held by it, and by its
/// calls under way.
/// Of unequal pairs a call has a plan of its own, which is bound to the members' blocks when the
/// node's members have met, or, where nobody else is there, before.
struct Plan {
  PlanQuery query;  ///< Its block counts are `block_counts`.
  std::vector<std::size_t> block_counts;
  SelectedPlan selected;
  /// Over before another thread could have been woken for it. Native exchanges never are: whether
  /// a process finds its workers idle must not decide whether it calls MPI's blocking collective
  /// or the nonblocking one, which do not match.
  bool is_short = false;
  /// By worker, of those that the caller wanted; those beyond the last one take no part. None where
  /// there are crossing ones.
  std::vector<Program> programs;
  std::optional<CrossingPrograms> crossing;
  /// Of a plan for unequal pairs: what calls' own ones are made of; and of these.
  std::shared_ptr<const PairWays> pair_ways;
  std::unique_ptr<UnequalPairs> pairs;

  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// When the node's members leave its first run. The same on all processes of the node.
  Leaving leaving() const noexcept {
    if (meets()) return Leaving::when_all_have_entered;
    const auto runs_ahead = [](const SlicedPrograms& sliced) {
      return sliced.program(0, 0).some_run_ahead;
    };
    const bool some_run_ahead = crossing ? runs_ahead(crossing->staged) ||
                                               (crossing->direct && runs_ahead(*crossing->direct))
                                         : programs.front().some_run_ahead;
    return some_run_ahead ? Leaving::ahead : Leaving::when_all_have_entered;
  }

  /// Its programs are bound when the node's members have met.
  bool meets() const noexcept { return pairs != nullptr && !pairs->is_alone(); }

  /// It uses no more of its node's memory than the compact section. The same on all processes.
  bool is_compact() const noexcept {
    return !crossing && !meets() && programs.front().memory == NodeMemory::Section::compact;
  }

  bool serves(const PlanQuery& other) const noexcept {
    return query.extent.count == other.extent.count && query.element_bytes == other.element_bytes &&
           query.collective == other.collective && query.root == other.root &&
           query.order == other.order && query.native == other.native &&
           query.has_unequal_pairs == other.has_unequal_pairs && same_blocks(other);
  }

  /// The plan that a caller takes instead where its workers are far from one another; nullopt: it
  /// has not looked for one, null: there is none. Set by that caller only, before a call that needs
  /// it.
  void set_far(PlanPointer plan) const noexcept { far_ = std::move(plan); }
  const std::optional<PlanPointer>& far() const noexcept { return far_; }

  /// Nothing is left of the query, but memory for the next one.
  void clear() noexcept {
    query = {};
    far_.reset();
  }

  /// Counts its memory, as it is now, in the account.
  void count_memory(const std::shared_ptr<PlanAccount>& account);

 private:
  friend class PlanPointer;

  bool same_blocks(const PlanQuery& other) const noexcept {
    return std::ranges::equal(block_counts, other.extent.block_counts);
  }

  mutable std::optional<PlanPointer> far_;
  PlanAccount::Entry memory_;
  mutable std::atomic<int> holders_{0};
};

inline PlanPointer::PlanPointer(const Plan* plan) noexcept : plan_(plan) {
  if (plan_ != nullptr) plan_->holders_.fetch_add(1, std::memory_order_relaxed);
}

inline Plan* PlanPointer::get_if_alone() const noexcept {
  // Pairs with the releasing decrement below: the others have read all that they will.
  const bool is_alone = plan_ != nullptr && plan_->holders_.load(std::memory_order_acquire) == 1;
  return is_alone ? const_cast<Plan*>(plan_) : nullptr;
}

inline void PlanPointer::release() noexcept {
  // Pairs with itself, and with the acquiring load above.
  if (plan_->holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete plan_;
}

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PLANS_PLAN_H_
