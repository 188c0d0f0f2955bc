#include "collectives/plans/plan_options.h"

std::size_t std::hash<hycoll::PlanKey>::operator()(const hycoll::PlanKey& key) const noexcept {
  constexpr std::size_t kMultiplier = 0x9e3779b97f4a7c15u;
  std::size_t h =
      static_cast<std::size_t>(key.root) * kMultiplier + static_cast<std::size_t>(key.collective);
  for (const hycoll::SelectedPlan* const selected : {&key.selected, &key.reaching}) {
    // Names stay where they are.
    h ^= reinterpret_cast<std::uintptr_t>(selected->algorithm.data());
    h = h * kMultiplier + (key.has_unequal_pairs ? 1 : 0) +
        (static_cast<std::size_t>(selected->segments) << 24 |
         static_cast<std::size_t>(selected->group_levels) << 16 |
         static_cast<std::size_t>(selected->lanes));
  }
  return h ^ h >> 29;
}
