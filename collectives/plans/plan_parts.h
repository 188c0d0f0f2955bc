#ifndef HYCOLL_COLLECTIVES_PLANS_PLAN_PARTS_H_
#define HYCOLL_COLLECTIVES_PLANS_PLAN_PARTS_H_

#include <cstddef>
#include <optional>

#include "collectives/plans/plan_options.h"
#include "core/schedule/shape.h"
#include "threading/program/abridgement.h"
#include "threading/program/program_needs.h"
#include "threading/program/staging_slices.h"

namespace hycoll {

/// What all nodes have to know alike of the plans of a key: it follows from the parts of the
/// typical nodes (decision 45).
struct CommonNeeds {
  ProgramNeeds needs;  ///< Of the staged schedule where one is needed.
  std::optional<StagingUse>
      staging;  ///< None where workers need nothing that others' members pass.
  std::optional<ProgramNeeds>
      direct;                  ///< Of the direct schedule besides the staged one, if wanted.
  std::size_t most_bytes = 0;  ///< No process keeps more of the first schedule.

  /// Whether the same programs follow from both.
  friend bool operator==(const CommonNeeds& a, const CommonNeeds& b) {
    return a.needs == b.needs && a.staging == b.staging && a.direct == b.direct;
  }
};

/// Whether the MPI library exchanges.
bool has_natives(const Schedule& schedule);

/// Makes and counts parts of the schedules of a key, which both outlive it.
class PlanParts {
 public:
  PlanParts(const PlanOptions& options, const PlanKey& key, std::size_t limit_bytes)
      : options_(options), key_(key), limit_bytes_(limit_bytes) {}

  const PlanOptions& options() const noexcept { return options_; }
  const PlanKey& key() const noexcept { return key_; }

  /// The key of which this process's part is the same, whatever of a key the other nodes alone see:
  /// where a root on another node is among that node's members.
  PlanKey own_key() const;

  /// Sets `own` to own_staged() if that is made on the way. Throws Error if the algorithm does not
  /// serve the shape; or if the plan of some node takes more than the limit, which all processes
  /// find alike.
  CommonNeeds common_needs(std::optional<AbridgedPart>& own) const;

  /// What all nodes need for a direct schedule. Errors: as common_needs(), with what is kept
  /// besides.
  PartNeeds direct_needs(const SelectedPlan& selected, std::size_t kept_besides) const;

  /// This node's part of a direct schedule.
  Schedule own_direct(const SelectedPlan& selected) const;
  /// What this process keeps of its node's part of the staged one.
  AbridgedPart own_staged() const { return staged(options_.node, options_.workers); }

 private:
  /// Of a node. With all workers' steps where the generator's order is none of execution.
  AbridgedPart staged(int node, WorkerRange workers) const;
  /// Whether workers of a node touch buffers of others' processes.
  bool crosses_processes(int node) const;
  CommonNeeds common_needs_staged(const std::optional<AbridgedPart>& own) const;
  void require_affordable(std::size_t bytes) const;
  Shape shape_for(const SelectedPlan& selected) const;
  Shape led_by_placement(const Shape& shape) const;
  Shape grouped_for(const SelectedPlan& selected, const Shape& shape) const;

  const PlanOptions& options_;
  const PlanKey& key_;
  std::size_t limit_bytes_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PLANS_PLAN_PARTS_H_
