#include "preload/session/routine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/base/errors.h"

namespace hycoll::preload {
namespace {

#define HYCOLL_BLOCKING(name, collective) #name,
#define HYCOLL_NONBLOCKING(name, collective) "i" #name,
#define HYCOLL_PERSISTENT(name, collective) #name "_init",
constexpr std::array<std::string_view, kRoutineCount> kNames = {HYCOLL_ROUTINES(
    HYCOLL_BLOCKING) HYCOLL_ROUTINES(HYCOLL_NONBLOCKING) HYCOLL_ROUTINES(HYCOLL_PERSISTENT)};
#undef HYCOLL_BLOCKING
#undef HYCOLL_NONBLOCKING
#undef HYCOLL_PERSISTENT

}  // namespace

std::string_view name_of(Routine routine) noexcept {
  return kNames[static_cast<std::size_t>(routine)];
}

RoutineSet parse_routines(std::string_view variable, std::string_view list) {
  RoutineSet routines;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (name == "all") {
      routines.set();
      continue;
    }
    const auto known = std::find(kNames.begin(), kNames.end(), name);
    if (known == kNames.end()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{}: '{}' is no collective; known: all, {}", variable, name,
                              fmt::join(kNames, ", ")));
    }
    const auto index = static_cast<std::size_t>(known - kNames.begin());
    routines.set(index);
    if (index < kBlockingRoutineCount) {
      routines.set(index + kBlockingRoutineCount);
      routines.set(index + 2 * kBlockingRoutineCount);
    }
  }
  return routines;
}

}  // namespace hycoll::preload
