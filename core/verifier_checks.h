#ifndef HYCOLL_CORE_VERIFIER_CHECKS_H_
#define HYCOLL_CORE_VERIFIER_CHECKS_H_

#include <optional>
#include <span>

#include "core/schedule.h"
#include "core/verifier.h"
#include "core/verifier_walk.h"

namespace hycoll::verifier {

/// Check 1. Safe on any schedule.
std::optional<Finding> check_structure(const Schedule& schedule);

/// Check 4, with an order from check_deadlock().
std::optional<Finding> check_races(const Index& index, std::span<const int> order,
                                   Aliasing aliasing);

/// Check 5, with the same order, which any other would do as well after check 4. Tells whether all
/// operands stand in rank order.
std::optional<Finding> check_result(const Index& index, const Matches& matches,
                                    std::span<const int> order, Aliasing aliasing,
                                    bool& rank_ordered);

/// What the schedule needs.
Resources measure_resources(const Index& index);

}  // namespace hycoll::verifier

#endif  // HYCOLL_CORE_VERIFIER_CHECKS_H_
