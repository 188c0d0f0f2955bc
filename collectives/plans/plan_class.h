#ifndef HYCOLL_COLLECTIVES_PLANS_PLAN_CLASS_H_
#define HYCOLL_COLLECTIVES_PLANS_PLAN_CLASS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/plans/plan.h"
#include "collectives/plans/selection.h"
#include "core/schedule/shape.h"
#include "threading/program/abridgement.h"
#include "threading/program/pair_binding.h"
#include "threading/program/program.h"
#include "threading/program/schedule_binding.h"
#include "threading/program/staging_slices.h"

namespace hycoll {

/// Whose plans these are.
struct PlanOptions {
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
  /// Which of the nodes' workers are near one another, for the algorithms that follow groups, and
  /// what a cache line takes between them: of the same nodes, the same on all processes. Empty: all
  /// nodes are flat.
  std::vector<NearRun> near = {};
  TransferTimes transfer_times = kPublishedTimes;
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
  /// The same, of broadcasts and scatters, where the processes are near one another.
  std::size_t near_broadcast_single_copy_bytes = SIZE_MAX;
  /// As BindingOptions has it.
  std::size_t streaming_staging_bytes = SIZE_MAX;
  /// The same: the node's processes may find their buffers in one another's shared heaps.
  bool shares_heaps = false;
  /// What the plans may take together.
  std::size_t limit_bytes = std::size_t{16} << 20;

  /// Which calls the kernel copies, if their plans may run where the buffers are.
  KernelCopies kernel_copies(Collective collective, std::size_t size_bytes) const noexcept;
};

/// What plans of many lengths, types and operators have in common: the choice, and all that a
/// generator knows.
struct PlanKey {
  Collective collective = Collective::allreduce;
  int root = 0;
  SelectedPlan selected;
  /// What a node that is alone does where its processes reach each other's buffers. Empty where
  /// they never do.
  SelectedPlan reaching;
  /// As PlanQuery has it.
  bool has_unequal_pairs = false;
  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};

/// The schedules of this process's node for all plans of a key, to be bound to ever other lengths
/// (ScheduleBinding). Thread-safe.
class PlanClass {
 public:
  /// The options outlive the class. Throws Error if the algorithm does not serve the shape; or if
  /// the plan of some node takes more than `limit_bytes`, which all processes find alike.
  PlanClass(const PlanOptions& options, const PlanKey& key, std::size_t limit_bytes);
  PlanClass(const PlanClass&) = delete;
  PlanClass& operator=(const PlanClass&) = delete;

  /// Makes `plan`, which nobody else holds, that of a query of the key, whose vector has so many
  /// bytes in all: with the programs of these workers, counted from the first of the options'. Its
  /// memory is used again. Throws StagingTooSmall if elements or blocks do not fit the staging;
  /// errors as bind_schedule(). The plan is of no use then.
  void bind(const PlanQuery& query, std::size_t size_bytes, WorkerRange workers,
            BindingMemory& memory, Plan& plan) const;

  const PlanKey& key() const noexcept { return key_; }

  /// It has been used since the last look.
  void note_use() const noexcept {
    // Threads that use it at once do not take its line from one another each time.
    if (!is_used_.load(std::memory_order_relaxed)) is_used_.store(true, std::memory_order_relaxed);
  }
  bool take_use() const noexcept { return is_used_.exchange(false, std::memory_order_relaxed); }

  /// What it takes at present. New lengths may add a little.
  std::size_t size_bytes() const noexcept;

 private:
  /// What this node does, and what all need, who have to know it alike.
  struct Parts {
    Schedule own;
    PartNeeds all;
  };
  /// With direct visibility. Requires that it is affordable with what is kept besides.
  Parts parts_for(const SelectedPlan& selected, std::size_t kept_besides) const;
  /// Of a node, staged. With all workers' steps where the generator's order is none of execution.
  AbridgedPart staged_part(int node, WorkerRange workers) const;
  /// Whether workers of a typical node touch buffers of others' processes.
  bool crosses_processes_elsewhere() const;
  void make_crossing(AbridgedPart own);
  /// Of unequal pairs.
  void make_pairs(const Schedule& own, const ProgramNeeds& needs);
  /// Where the buffers are, if that can be.
  void make_direct(std::size_t staged_bytes);
  void require_affordable(std::size_t bytes) const;
  void bind_crossing(const PlanQuery& query, std::size_t size_bytes, WorkerRange workers,
                     BindingMemory& memory, CrossingPrograms& programs) const;
  BindingOptions binding_options(const ProgramNeeds& needs) const;
  Shape shape_for(const SelectedPlan& selected) const;
  Shape led_by_placement(const Shape& shape) const;
  Shape grouped_for(const SelectedPlan& selected, const Shape& shape) const;

  const PlanOptions& options_;
  PlanKey key_;
  std::size_t limit_bytes_;
  bool is_native_ = false;                    // the MPI library exchanges
  std::shared_ptr<const PairBinding> pairs_;  // of unequal pairs, and then nothing else
  std::optional<ScheduleBinding> whole_;      // none where workers need what others' members pass
  std::optional<ScheduleBinding> staged_;     // there
  std::optional<StagingUse> staging_;         // the same: of all nodes
  std::optional<ScheduleBinding> direct_;     // there, if the algorithm can
  bool is_direct_sliced_ = false;             // as the staged one is
  bool may_be_copied_ = false;                // by the kernel
  mutable std::atomic<bool> is_used_{false};
};

}  // namespace hycoll

template <>
struct std::hash<hycoll::PlanKey> {
  std::size_t operator()(const hycoll::PlanKey& key) const noexcept;
};

#endif  // HYCOLL_COLLECTIVES_PLANS_PLAN_CLASS_H_
