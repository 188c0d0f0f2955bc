#include "collectives/plans/plan_options.h"

namespace hycoll {
namespace {

constexpr std::size_t kKib = 1024;

}  // namespace

KernelCopies PlanOptions::kernel_copies(Collective collective,
                                        std::size_t size_bytes) const noexcept {
  if (size_bytes >= single_copy_bytes) return KernelCopies::everywhere;
  return size_bytes >= near_single_copies.shortest_bytes(collective) ? KernelCopies::where_near
                                                                     : KernelCopies::never;
}

NearSingleCopies NearSingleCopies::among(int members) noexcept {
  // Members who are alone with one another do not wait for other copies to end.
  if (members <= 2) return {.broadcast_bytes = 32 * kKib, .scatter_bytes = 32 * kKib};
  const auto each = static_cast<std::size_t>(members);
  return {.broadcast_bytes = each * 512 * kKib,
          .scatter_bytes = each * 128 * kKib,
          .gather_bytes = each * 64 * kKib};
}

std::size_t NearSingleCopies::shortest_bytes(Collective collective) const noexcept {
  switch (collective) {
    case Collective::broadcast:
      return broadcast_bytes;
    case Collective::scatter:
      return scatter_bytes;
    case Collective::gather:
      return gather_bytes;
    default:
      return SIZE_MAX;
  }
}

}  // namespace hycoll

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
