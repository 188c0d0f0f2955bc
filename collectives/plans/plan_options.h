#ifndef HYCOLL_COLLECTIVES_PLANS_PLAN_OPTIONS_H_
#define HYCOLL_COLLECTIVES_PLANS_PLAN_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collectives/plans/plan.h"
#include "collectives/selection/kernel_copies.h"
#include "collectives/selection/selection.h"
#include "core/base/machine_prices.h"
#include "core/schedule/shape.h"
#include "threading/program/program.h"

namespace hycoll {

/// Whose plans these are.
struct PlanOptions {
  /// Members and available workers of every node that has members.
  std::vector<EqualNodes> nodes;
  int node = 0;         ///< This process's. The aggregators come after the other nodes.
  int aggregators = 0;  ///< For the plans that use them.
  int sockets = 1;      ///< As SelectionQuery has it.
  int requested_lanes = 0;
  std::string requested_algorithm = "auto";
  /// Of the nodes that have members: the workers that drive its lanes, as leaders_of() has them;
  /// the same on all processes, whose schedules would differ otherwise. Empty, and for lanes
  /// beyond these: worker l drives lane l.
  std::vector<EqualLeaders> leaders;
  /// Which of the nodes' workers are near one another, for the algorithms that follow groups, and
  /// what a cache line takes between them: of the same nodes, the same on all processes. Empty: all
  /// nodes are flat.
  std::vector<EqualNearness> near = {};
  TransferTimes transfer_times = kPublishedTimes;
  std::size_t streaming_threshold_bytes = SIZE_MAX;
  Nearness nearness = Nearness::unknown;
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
  /// The same: what the kernel copies between the processes of this node.
  SingleCopies single_copies = {};
  /// As BindingOptions has it.
  std::size_t streaming_staging_bytes = SIZE_MAX;
  /// The same: the node's processes may find their buffers in one another's shared heaps.
  bool shares_heaps = false;
  /// What the plans may take together.
  std::size_t limit_bytes = std::size_t{16} << 20;
  std::size_t exchange_limit_bytes = kDefaultExchangeBytes;  ///< As SelectionQuery has it.
  MachinePrices prices = {};                                 ///< The same.
  std::shared_ptr<const TuningTable> tuning = nullptr;       ///< The same.
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

}  // namespace hycoll

template <>
struct std::hash<hycoll::PlanKey> {
  std::size_t operator()(const hycoll::PlanKey& key) const noexcept;
};

#endif  // HYCOLL_COLLECTIVES_PLANS_PLAN_OPTIONS_H_
