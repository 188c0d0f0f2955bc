#include "preload/session/routine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/base/errors.h"

namespace hycoll::preload {
namespace {

constexpr std::array<std::string_view, kRoutineCount> kNames = {
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "gatherv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "scatter",
    "scatterv",
    "iallgather",
    "iallgatherv",
    "iallreduce",
    "ialltoall",
    "ialltoallv",
    "ialltoallw",
    "ibarrier",
    "ibcast",
    "iexscan",
    "igather",
    "igatherv",
    "ireduce",
    "ireduce_scatter",
    "ireduce_scatter_block",
    "iscan",
    "iscatter",
    "iscatterv",
    "allgather_init",
    "allgatherv_init",
    "allreduce_init",
    "alltoall_init",
    "alltoallv_init",
    "alltoallw_init",
    "barrier_init",
    "bcast_init",
    "exscan_init",
    "gather_init",
    "gatherv_init",
    "reduce_init",
    "reduce_scatter_init",
    "reduce_scatter_block_init",
    "scan_init",
    "scatter_init",
    "scatterv_init",
};

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
