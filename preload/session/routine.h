#ifndef HYCOLL_PRELOAD_SESSION_ROUTINE_H_
#define HYCOLL_PRELOAD_SESSION_ROUTINE_H_

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/collective_traits.h"

namespace hycoll::preload {

// clang-format off
/// MPI's collectives, and hycoll's for each. A barrier is an allreduce.
#define HYCOLL_ROUTINES(routine)                \
  routine(allgather, allgather)                 \
  routine(allgatherv, allgather)                \
  routine(allreduce, allreduce)                 \
  routine(alltoall, alltoall)                   \
  routine(alltoallv, alltoall)                  \
  routine(alltoallw, alltoall)                  \
  routine(barrier, allreduce)                   \
  routine(bcast, broadcast)                     \
  routine(exscan, exscan)                       \
  routine(gather, gather)                       \
  routine(gatherv, gather)                      \
  routine(reduce, reduce)                       \
  routine(reduce_scatter, reduce_scatter)       \
  routine(reduce_scatter_block, reduce_scatter) \
  routine(scan, scan)                           \
  routine(scatter, scatter)                     \
  routine(scatterv, scatter)
// clang-format on

#define HYCOLL_BLOCKING(name, collective) name,
#define HYCOLL_NONBLOCKING(name, collective) i##name,
#define HYCOLL_PERSISTENT(name, collective) name##_init,
/// The forms of MPI's collectives, by the names that settings and reports use: all blocking ones,
/// then the nonblocking ones in the same order, then the persistent ones.
enum class Routine : std::uint8_t {
  HYCOLL_ROUTINES(HYCOLL_BLOCKING) HYCOLL_ROUTINES(HYCOLL_NONBLOCKING)
      HYCOLL_ROUTINES(HYCOLL_PERSISTENT)
};
#undef HYCOLL_BLOCKING
#undef HYCOLL_NONBLOCKING
#undef HYCOLL_PERSISTENT

inline constexpr std::size_t kBlockingRoutineCount = 17;
inline constexpr std::size_t kRoutineCount = 3 * kBlockingRoutineCount;
static_assert(static_cast<std::size_t>(Routine::scatterv_init) + 1 == kRoutineCount);

constexpr bool is_nonblocking(Routine routine) noexcept {
  return routine >= Routine::iallgather && routine <= Routine::iscatterv;
}

constexpr bool is_persistent(Routine routine) noexcept {
  return routine >= Routine::allgather_init;
}

constexpr bool is_barrier(Routine routine) noexcept {
  return routine == Routine::barrier || routine == Routine::ibarrier ||
         routine == Routine::barrier_init;
}

/// hycoll's collective for one of MPI's, in any of its forms.
constexpr Collective collective_of(Routine routine) noexcept {
#define HYCOLL_COLLECTIVE(name, collective) Collective::collective,
  constexpr std::array<Collective, kBlockingRoutineCount> kCollectives = {
      HYCOLL_ROUTINES(HYCOLL_COLLECTIVE)};
#undef HYCOLL_COLLECTIVE
  return kCollectives[static_cast<std::size_t>(routine) % kBlockingRoutineCount];
}

/// Whether it moves data of any type, which may be described by different types on different
/// processes, and combines nothing.
constexpr bool moves_data(Routine routine) noexcept { return !combines(collective_of(routine)); }

/// A set of routines.
using RoutineSet = std::bitset<kRoutineCount>;

/// The name in lower case, without MPI_.
std::string_view name_of(Routine routine) noexcept;

/// The routines that a list such as "alltoall,ireduce" names; a blocking form's name stands for the
/// others too, and "all" for everything. Throws Error (invalid_argument), which begins
/// with `variable` and lists the names, if there is another one.
RoutineSet parse_routines(std::string_view variable, std::string_view list);

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_ROUTINE_H_
