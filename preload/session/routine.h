#ifndef HYCOLL_PRELOAD_SESSION_ROUTINE_H_
#define HYCOLL_PRELOAD_SESSION_ROUTINE_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"

namespace hycoll::preload {

/// MPI's collectives, by the names that settings and reports use. Blocking, nonblocking and
/// persistent forms count as different routines.
enum class Routine : std::uint8_t {
  allgather,
  allgatherv,
  allreduce,
  alltoall,
  alltoallv,
  alltoallw,
  barrier,
  bcast,
  exscan,
  gather,
  gatherv,
  reduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  scatter,
  scatterv,
  iallgather,  // the nonblocking forms, in the same order
  iallgatherv,
  iallreduce,
  ialltoall,
  ialltoallv,
  ialltoallw,
  ibarrier,
  ibcast,
  iexscan,
  igather,
  igatherv,
  ireduce,
  ireduce_scatter,
  ireduce_scatter_block,
  iscan,
  iscatter,
  iscatterv,
  allgather_init,  // the persistent forms, in the same order
  allgatherv_init,
  allreduce_init,
  alltoall_init,
  alltoallv_init,
  alltoallw_init,
  barrier_init,
  bcast_init,
  exscan_init,
  gather_init,
  gatherv_init,
  reduce_init,
  reduce_scatter_init,
  reduce_scatter_block_init,
  scan_init,
  scatter_init,
  scatterv_init,
};
inline constexpr std::size_t kBlockingRoutineCount = 17;
inline constexpr std::size_t kRoutineCount = 3 * kBlockingRoutineCount;

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

/// hycoll's collective for one of MPI's. A barrier is an allreduce.
constexpr Collective collective_of(Routine routine) noexcept {
  switch (routine) {
    case Routine::allgather:
    case Routine::allgatherv:
    case Routine::iallgather:
    case Routine::iallgatherv:
    case Routine::allgather_init:
    case Routine::allgatherv_init:
      return Collective::allgather;
    case Routine::alltoall:
    case Routine::alltoallv:
    case Routine::alltoallw:
    case Routine::ialltoall:
    case Routine::ialltoallv:
    case Routine::ialltoallw:
    case Routine::alltoall_init:
    case Routine::alltoallv_init:
    case Routine::alltoallw_init:
      return Collective::alltoall;
    case Routine::allreduce:
    case Routine::iallreduce:
    case Routine::allreduce_init:
    case Routine::barrier:
    case Routine::ibarrier:
    case Routine::barrier_init:
      return Collective::allreduce;
    case Routine::bcast:
    case Routine::ibcast:
    case Routine::bcast_init:
      return Collective::broadcast;
    case Routine::exscan:
    case Routine::iexscan:
    case Routine::exscan_init:
      return Collective::exscan;
    case Routine::gather:
    case Routine::gatherv:
    case Routine::igather:
    case Routine::igatherv:
    case Routine::gather_init:
    case Routine::gatherv_init:
      return Collective::gather;
    case Routine::reduce:
    case Routine::ireduce:
    case Routine::reduce_init:
      return Collective::reduce;
    case Routine::reduce_scatter:
    case Routine::reduce_scatter_block:
    case Routine::ireduce_scatter:
    case Routine::ireduce_scatter_block:
    case Routine::reduce_scatter_init:
    case Routine::reduce_scatter_block_init:
      return Collective::reduce_scatter;
    case Routine::scan:
    case Routine::iscan:
    case Routine::scan_init:
      return Collective::scan;
    case Routine::scatter:
    case Routine::scatterv:
    case Routine::iscatter:
    case Routine::iscatterv:
    case Routine::scatter_init:
    case Routine::scatterv_init:
      return Collective::scatter;
  }
  HYCOLL_ASSERT(false, "a routine");
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
