#include "core/base/collective.h"

#include <array>
#include <cstddef>

namespace hycoll {

std::string_view name_of(Collective collective) noexcept {
  constexpr std::array<std::string_view, kCollectiveCount> names = {
      "allreduce", "reduce", "reduce_scatter", "scan", "exscan", "broadcast"};
  return names[static_cast<std::size_t>(collective)];
}

}  // namespace hycoll
