#ifndef HYCOLL_CORE_VERIFIER_CHECKS_H_
#define HYCOLL_CORE_VERIFIER_CHECKS_H_

#include <cstdint>
#include <optional>
#include <span>

#include "core/schedule/schedule.h"
#include "core/schedule/walk.h"
#include "core/verifier/verifier.h"

namespace hycoll::verifier {

/// Check 1. Safe on any schedule.
std::optional<Finding> check_structure(const Schedule& schedule);

/// Check 4, with an order from check_deadlock().
std::optional<Finding> check_races(const Index& index, std::span<const int> order,
                                   Aliasing aliasing);

/// The trees in which the outputs combine their operands.
struct ResultTrees {
  bool is_rank_ordered = true;  ///< Verdict::rank_ordered
  std::uint64_t digest = 0;     ///< Verdict::tree_digest
};

/// Check 5, with the same order, which any other would do as well after check 4. Fills in the
/// trees.
std::optional<Finding> check_result(const Index& index, const Matches& matches,
                                    std::span<const int> order, Aliasing aliasing,
                                    ResultTrees& trees);

/// What the schedule needs.
Resources measure_resources(const Index& index);

}  // namespace hycoll::verifier

#endif  // HYCOLL_CORE_VERIFIER_CHECKS_H_
