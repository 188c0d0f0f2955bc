#include "core/schedule.h"

#include <array>
#include <numeric>

namespace hycoll {

std::string_view name_of(Collective collective) noexcept {
  constexpr std::array<std::string_view, 1> names = {"allreduce"};
  return names[static_cast<std::size_t>(collective)];
}

std::string_view name_of(StepKind kind) noexcept {
  constexpr std::array<std::string_view, 7> names = {"send",   "recv", "reduce", "copy",
                                                     "signal", "wait", "native"};
  return names[static_cast<std::size_t>(kind)];
}

std::size_t Schedule::step_count() const {
  return std::accumulate(
      strands.begin(), strands.end(), std::size_t{0},
      [](std::size_t sum, const Strand& strand) { return sum + strand.steps.size(); });
}

}  // namespace hycoll
