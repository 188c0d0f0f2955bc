#ifndef HYCOLL_TOOLS_COMMAND_PLAN_MACHINE_H_
#define HYCOLL_TOOLS_COMMAND_PLAN_MACHINE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/selection/groups.h"
#include "core/base/partition.h"
#include "core/drawing/line_transfers.h"
#include "core/schedule/schedule.h"
#include "numa/placement/placement.h"
#include "numa/topology/topology.h"
#include "tools/command/line/output.h"

namespace hycoll::command {

/// The machine that `hycoll plan --topology` describes, whose cores the workers of a node fill in
/// their order.
class PlanMachine {
 public:
  /// Throws Error (invalid_argument) if hwloc does not understand the description, or if there are
  /// more workers than cores.
  PlanMachine(const std::string& description, int worker_count);

  /// Which workers of a node drive its lanes, by lane.
  std::vector<int> leaders(int lane_count, Placement placement) const;

  /// Which of the workers of a node are near one another.
  const EqualNearness& near() const noexcept { return near_; }

  LineTransfers transfers(const Schedule& schedule, const Partition& partition,
                          std::size_t element_bytes) const;

 private:
  // By worker of a node.
  std::vector<Core> cores_;
  std::vector<WorkerPlace> places_;
  EqualNearness near_;
};

/// As label and text.
std::vector<std::pair<std::string, std::string>> transfer_facts(const LineTransfers& transfers);

/// Adds the fields of a record, which are null without transfers.
void add_to(Json& record, const std::optional<LineTransfers>& transfers);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_PLAN_MACHINE_H_
