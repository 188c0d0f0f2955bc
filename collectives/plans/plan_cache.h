#ifndef HYCOLL_COLLECTIVES_PLANS_PLAN_CACHE_H_
#define HYCOLL_COLLECTIVES_PLANS_PLAN_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "collectives/plans/plan.h"
#include "collectives/plans/plan_account.h"
#include "collectives/plans/plan_class.h"
#include "collectives/selection/selection.h"
#include "threading/program/program.h"
#include "threading/program/schedule_binding.h"

namespace hycoll {

/// What the plans of one communicator or team have in common, made when first needed, and given up
/// when all of it and the plans themselves take more than their bound: least recently used first.
/// Thread-safe. What one process gives up changes nothing but the time of its later calls.
class PlanCache {
 public:
  using Options = PlanOptions;

  /// Throws Error if the requested algorithm does not exist.
  explicit PlanCache(Options options);

  /// A plan that is the caller's, for all workers of this process. Errors: as RecentPlans::find().
  PlanPointer find(const PlanQuery& query);

  /// What find() would select.
  SelectedPlan select(const PlanQuery& query) const;

  /// What a query's plans are part of. `selection` is a copy of selection(), of the caller's, whose
  /// parts that a query says are changed. Throws Error if the requested algorithm does not serve
  /// it.
  PlanKey key_of(const PlanQuery& query, std::size_t size_bytes, SelectionQuery& selection) const;
  const SelectionQuery& selection() const noexcept { return selection_; }

  /// The class of a key; made if there is none, unless there is one of which this process's part is
  /// the same: of another root on the same node. Whoever makes plans of it sees afterwards whether
  /// all fits: old plans go before classes. Errors: as PlanClass and PlanParts::common_needs().
  std::shared_ptr<const PlanClass> find_class(const PlanKey& key);

  /// After bindings to new forms: counts what a class takes by now.
  void recount(const PlanClass& plans);

  /// Gives up classes until all fits, as long as there are others than this one.
  void relieve(const PlanClass& in_use);

  /// Of each member's input.
  std::size_t size_bytes_of(const PlanQuery& query) const;

  const std::shared_ptr<PlanAccount>& account() const noexcept { return account_; }
  /// Changes whenever classes are given up: who holds some lets go of them then.
  std::uint64_t evictions() const noexcept { return evictions_.load(std::memory_order_relaxed); }

  /// A hash of all that Plan::serves() compares.
  static std::size_t hash(const PlanQuery& query) noexcept {
    std::size_t h = query.extent.count * 0x9e3779b97f4a7c15u + query.element_bytes;
    h ^= (static_cast<std::size_t>(query.root) << 8 | static_cast<std::size_t>(query.collective)) *
         0xd1b54a32d192ed03u;
    h += static_cast<std::size_t>(query.order) << 4 | static_cast<std::size_t>(query.native) << 3 |
         static_cast<std::size_t>(query.has_unequal_pairs) << 2;
    for (const std::size_t count : query.extent.block_counts) {
      h = (h ^ count) * 0x9e3779b97f4a7c15u;
    }
    return h ^ h >> 29;
  }

 private:
  struct Entry {
    std::shared_ptr<const PlanClass> plans;
    std::unique_ptr<PlanAccount::Entry> memory;
    std::vector<PlanKey> keys = {};  // whose class it is
  };
  using Entries = std::list<Entry>;
  using ByKey = std::unordered_map<PlanKey, Entries::iterator>;
  using ByOwnKey = std::unordered_multimap<PlanKey, Entries::iterator>;

  /// Whether the query's call may be made where the buffers are, although workers are processes.
  bool may_reach_buffers(const PlanQuery& query, std::size_t size_bytes) const noexcept;
  const Entry& make_entry(const PlanKey& key);
  const Entry& add_entry(const PlanKey& key, std::shared_ptr<const PlanClass> plans);
  const Entry& share_entry(const PlanKey& key, Entries::iterator entry);
  /// The entry of a class; the end if it has been given up.
  ByOwnKey::iterator find_entry(const PlanClass& plans);
  /// What an entry takes, to be counted.
  void count(const Entry& entry);

  const Options options_;
  const std::unique_ptr<const InsideCosts> inside_;  // null where all nodes are flat
  SelectionQuery selection_;                         // but for what a query says
  int member_count_ = 0;
  bool may_reach_;  // the processes of a node that is alone may reach each other's buffers
  std::shared_ptr<PlanAccount> account_;
  std::mutex mutex_;
  Entries entries_;      // guarded by mutex_; latest first
  ByKey by_key_;         // guarded by mutex_
  ByOwnKey by_own_key_;  // guarded by mutex_; by the classes' own keys
  std::atomic<std::uint64_t> evictions_{0};
};

/// One caller's way to the plans of a PlanCache: the plan of the last call, and those of a few
/// queries more, for the caller's workers, without a lock. A query that is new takes the plan of an
/// old one, in its memory, bound to another length. Used by one thread at a time.
class RecentPlans {
 public:
  /// `workers`, counted from the first of the cache's options: whose programs are wanted. The cache
  /// outlives this object; plans that are held outlive both.
  explicit RecentPlans(PlanCache& cache, WorkerRange workers = {})
      : cache_(cache), workers_(workers), selection_(cache.selection()) {}
  ~RecentPlans();
  RecentPlans(const RecentPlans&) = delete;
  RecentPlans& operator=(const RecentPlans&) = delete;

  /// Stays as it is until the next find(), or as long as it is held. Throws Error if the requested
  /// algorithm does not serve the shape, or the query; StagingTooSmall if its elements or blocks do
  /// not fit the staging; or if the bound does not suffice for the plan.
  const Plan& find(const PlanQuery& query) {
    if (last_ != nullptr && last_->serves(query)) return *last_;
    return find_other(query);
  }

  /// Whether plans have been given up since the last look: then others that hold some should let
  /// go.
  bool has_evicted() noexcept { return std::exchange(has_evicted_, false); }

 private:
  struct Slot {
    PlanPointer plan;
    std::uint64_t last_use = 0;
    std::size_t class_index = 0;       // in classes_, if it is still there:
    const PlanClass* plans = nullptr;  // what the plan has been made from
  };

  const Plan& find_other(const PlanQuery& query);
  /// Of a slot's plan that others hold: makes it another slot's, whose plan nobody holds, so that
  /// both will be bound again in their memory. Where it lies then nobody looks for it.
  void exchange_for_free(PlanPointer& held, const Slot& slot);
  /// Where it is in classes_.
  std::size_t find_class(const PlanKey& key);
  /// Where it is, or may come: whoever takes another one's place keeps that from being noted when
  /// it is used, so that it is given up early.
  std::size_t place_of(const PlanKey& key) const noexcept;
  void relieve(const Slot& in_use, const PlanClass& plans);
  void count_found() noexcept;

  /// A class, and of which of its keys it has been asked for.
  struct KnownClass {
    PlanKey key;
    std::shared_ptr<const PlanClass> plans;
  };

  static constexpr std::size_t kSlots = 64;
  static constexpr std::size_t kClasses = 64;
  static constexpr std::size_t kProbes = 8;  // looked at in either, one after the other
  PlanCache& cache_;
  WorkerRange workers_;
  SelectionQuery selection_;
  const Plan* last_ = nullptr;  // one of slots_
  std::array<Slot, kSlots> slots_;
  std::array<KnownClass, kClasses> classes_;
  std::uint64_t evictions_seen_ = 0;
  std::uint64_t uses_ = 0;
  std::uint64_t found_ = 0;  // not in plan_statistics() yet
  bool has_evicted_ = false;
  BindingMemory memory_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PLANS_PLAN_CACHE_H_
