#ifndef HYCOLL_COLLECTIVES_PLANS_PLAN_CACHE_H_
#define HYCOLL_COLLECTIVES_PLANS_PLAN_CACHE_H_

#include <algorithm>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/plans/selection.h"
#include "core/schedule/shape.h"
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
};

/// Where the kernel copies between the processes of a node.
enum class KernelCopies { never, where_near, everywhere };

/// The programs of this process's workers in a plan in which workers need what other workers'
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

  /// Whether they are, where the processes are as far from one another as NodeMemory::is_far says.
  bool are_copied(bool is_far) const noexcept {
    return copies == KernelCopies::everywhere || (copies == KernelCopies::where_near && !is_far);
  }
};

/// One query's way through a collective on this node: what was selected, and each worker's program.
struct Plan {
  PlanQuery query;  ///< Its block counts are those of the next member.
  std::vector<std::size_t> block_counts;
  SelectedPlan selected;
  /// Over before another thread could have been woken for it. Native exchanges never are: whether
  /// a process finds its workers idle must not decide whether it calls MPI's blocking collective
  /// or the nonblocking one, which do not match.
  bool is_short = false;
  /// By worker of this process; those beyond the last one take no part. None where there are
  /// crossing ones.
  std::vector<Program> programs;
  std::optional<CrossingPrograms> crossing = {};
  /// It uses no more of its node's memory than the compact part. The same on all processes.
  bool is_compact() const noexcept {
    return !crossing && programs.front().memory == NodeMemory::Part::compact;
  }
  /// Why there are no programs at all.
  std::optional<StagingTooSmall> refusal = {};

  bool serves(const PlanQuery& other) const noexcept {
    return query.extent.count == other.extent.count && query.element_bytes == other.element_bytes &&
           query.collective == other.collective && query.root == other.root &&
           query.order == other.order && query.native == other.native && same_blocks(other);
  }

 private:
  bool same_blocks(const PlanQuery& other) const noexcept {
    return std::ranges::equal(block_counts, other.extent.block_counts);
  }
};

/// The plans of one communicator or team, made when first needed. Thread-safe. A plan's address is
/// stable for the cache's lifetime.
class PlanCache {
 public:
  struct Options {
    /// Members and available workers of every node that has members.
    std::vector<NodeRun> nodes;
    int node = 0;         ///< This process's. The aggregators come after the other nodes.
    int aggregators = 0;  ///< For the plans that use them.
    int sockets = 1;      ///< As SelectionQuery has it.
    int requested_lanes = 0;
    std::string requested_algorithm = "auto";
    /// Of the nodes that have members: the workers that drive its lanes, as leaders_of() has them;
    /// the same on all processes, whose schedules would differ otherwise. Empty, and for lanes
    /// beyond these: worker l drives lane l.
    std::vector<LeaderRun> leaders;
    std::size_t streaming_threshold_bytes = SIZE_MAX;
    int tag_count = INT32_MAX;  ///< As BindingOptions has it.
    /// Peers::processes: nodes have several processes. Single lanes are led as `leaders` has it,
    /// too.
    Peers peers = Peers::nodes;
    /// Peers::processes: which ones, as Shape::with_processes() wants it.
    Processes processes = {};
    /// Peers::processes: the staging of each worker, in one set.
    std::size_t staging_bytes = 0;
    std::size_t short_staging_bytes = 0;  ///< As BindingOptions has it.
    /// The same: which workers of the node are this process's.
    WorkerRange workers = {};
    /// The same: the shortest vectors that the kernel copies between the processes of this node.
    std::size_t single_copy_bytes = SIZE_MAX;
    /// The same, of broadcasts, where the processes are near one another.
    std::size_t near_broadcast_single_copy_bytes = SIZE_MAX;
    /// As BindingOptions has it.
    std::size_t streaming_staging_bytes = SIZE_MAX;
  };

  /// Throws Error if the requested algorithm does not exist.
  explicit PlanCache(Options options);

  /// Throws Error if the requested algorithm does not serve the shape, or the query, and
  /// StagingTooSmall if its elements or blocks do not fit the staging.
  const Plan& find(const PlanQuery& query);

  /// What find() would select.
  SelectedPlan select(const PlanQuery& query) const;

  /// A hash of all that serves() compares.
  static std::size_t hash(const PlanQuery& query) noexcept {
    std::size_t h = query.extent.count * 0x9e3779b97f4a7c15u + query.element_bytes;
    h ^= (static_cast<std::size_t>(query.root) << 8 | static_cast<std::size_t>(query.collective)) *
         0xd1b54a32d192ed03u;
    h += static_cast<std::size_t>(query.order) << 4 | static_cast<std::size_t>(query.native) << 3;
    for (const std::size_t count : query.extent.block_counts) {
      h = (h ^ count) * 0x9e3779b97f4a7c15u;
    }
    return h ^ h >> 29;
  }

 private:
  Plan make_plan(const PlanQuery& query) const;
  SelectedPlan select_for(const PlanQuery& query, Visibility visibility) const;
  /// What this node does, and what all need, who have to know it alike.
  struct Parts {
    Schedule own;
    std::vector<Schedule> typical;  ///< Of several nodes, where some may have to be staged.
    ProgramNeeds needs;
    /// Whether some node touches buffers of others' processes follows from these.
    std::span<const Schedule> of_all_nodes() const {
      return typical.empty() ? std::span(&own, 1) : std::span(typical);
    }
  };
  /// With direct visibility.
  Parts parts_for(const SelectedPlan& selected, const PlanQuery& query) const;
  CrossingPrograms crossing_programs(const Parts& direct, const PlanQuery& query) const;
  /// Of a plan that may be executed directly.
  KernelCopies kernel_copies(const PlanQuery& query) const;
  BindingOptions binding_options(const PlanQuery& query, const ProgramNeeds& needs) const;
  std::size_t size_bytes_of(const PlanQuery& query) const;
  Shape shape_for(const SelectedPlan& selected, const PlanQuery& query) const;
  Shape led_by_placement(const Shape& shape) const;

  static constexpr std::size_t kBuckets = 256;

  Options options_;
  std::mutex mutex_;
  std::vector<std::list<Plan>> buckets_;  // guarded by mutex_; elements of a list do not move
};

/// A small, private front to a PlanCache: the plan of the last call, and of a few queries more,
/// without a lock. Used by one thread at a time.
class RecentPlans {
 public:
  explicit RecentPlans(PlanCache& cache) : cache_(cache), slots_(kSlots, nullptr) {}

  const Plan& find(const PlanQuery& query) {
    if (last_ != nullptr && last_->serves(query)) return *last_;
    const Plan*& slot = slots_[PlanCache::hash(query) % kSlots];
    if (slot == nullptr || !slot->serves(query)) slot = &cache_.find(query);
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

#endif  // HYCOLL_COLLECTIVES_PLANS_PLAN_CACHE_H_
