#ifndef HYCOLL_COLLECTIVES_SELECTION_RULES_H_
#define HYCOLL_COLLECTIVES_SELECTION_RULES_H_

#include <span>

#include "collectives/selection/costs.h"
#include "collectives/selection/selection.h"

namespace hycoll {

/// How `auto` chooses for one collective, or for two that are alike, where no algorithm is asked
/// for: on one node by measured thresholds (docs/measurements.md), between nodes the cheapest of
/// some candidates. Each is described in its file, where also the candidates' formulas are.
struct SelectionRule {
  SelectedPlan (*on_one_node)(const SelectionQuery& query);
  std::span<const Candidate> between_nodes;
};

extern const SelectionRule kAllreduceRule;
extern const SelectionRule kReduceRule;
extern const SelectionRule kReduceScatterRule;
extern const SelectionRule kScanRule;  ///< And exscan.
extern const SelectionRule kBroadcastRule;
extern const SelectionRule kAllgatherRule;
extern const SelectionRule kGatherRule;  ///< And scatter.
extern const SelectionRule kAlltoallRule;
/// Where leaders may not hold all that their node sends and receives.
extern const SelectionRule kBoundedAlltoallRule;

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_SELECTION_RULES_H_
