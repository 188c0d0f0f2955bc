#include "core/base/collective.h"

#include "core/base/collective_traits.h"

namespace hycoll {

std::string_view name_of(Collective collective) noexcept { return traits_of(collective).name; }

std::optional<Collective> collective_named(std::string_view name) noexcept {
  for (int c = 0; c < kCollectiveCount; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (name_of(collective) == name) return collective;
  }
  return std::nullopt;
}

}  // namespace hycoll
