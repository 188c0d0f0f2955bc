#ifndef HYCOLL_COLLECTIVES_PLAN_CACHE_H_
#define HYCOLL_COLLECTIVES_PLAN_CACHE_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "collectives/selection.h"
#include "core/shape.h"
#include "threading/program.h"

namespace hycoll {

/// One size's way through a collective on this node: what was selected, and each worker's program.
struct Plan {
  std::size_t count;
  std::size_t element_bytes;
  SelectedPlan selected;
  std::vector<Program>
      programs;  ///< By worker on this node; those beyond the last one take no part.
};

/// The plans of one communicator or team, made when first needed. Thread-safe. A plan's address is
/// stable for the cache's lifetime.
class PlanCache {
 public:
  struct Options {
    std::vector<Node> nodes;  ///< Members and available workers of every node.
    int node = 0;             ///< This process's.
    int requested_lanes = 0;
    std::string requested_algorithm = "auto";
    /// The worker that drives each lane, for a number of lanes; from the leaders' placement.
    std::vector<std::vector<int>> lane_workers;  ///< Index: lane count - 1; beyond: worker = lane.
    std::size_t streaming_threshold_bytes = SIZE_MAX;
  };

  explicit PlanCache(Options options);

  /// Throws Error if the requested algorithm does not serve the shape.
  const Plan& find(std::size_t count, std::size_t element_bytes);

  /// What find() would select.
  SelectedPlan select(std::size_t count, std::size_t element_bytes) const;

 private:
  struct Key {
    std::size_t count;
    std::size_t element_bytes;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  Plan make(const Key& key) const;
  Shape shape_for(const SelectedPlan& selected) const;

  Options options_;
  std::mutex mutex_;
  std::map<Key, Plan> plans_;  // guarded by mutex_; nodes of a map do not move
};

/// A small, private front to a PlanCache: the plan of the last call, and of a few sizes more,
/// without a lock. Used by one thread at a time.
class RecentPlans {
 public:
  explicit RecentPlans(PlanCache& cache) : cache_(cache), slots_(kSlots, nullptr) {}

  const Plan& find(std::size_t count, std::size_t element_bytes) {
    if (last_ != nullptr && last_->count == count && last_->element_bytes == element_bytes)
      return *last_;
    const Plan*& slot = slots_[(count * 0x9e3779b97f4a7c15u + element_bytes) >> 58];
    if (slot == nullptr || slot->count != count || slot->element_bytes != element_bytes) {
      slot = &cache_.find(count, element_bytes);
    }
    last_ = slot;
    return *last_;
  }

 private:
  static constexpr std::size_t kSlots = 64;
  PlanCache& cache_;
  const Plan* last_ = nullptr;
  std::vector<const Plan*> slots_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PLAN_CACHE_H_
