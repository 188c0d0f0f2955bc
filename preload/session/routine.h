#ifndef HYCOLL_PRELOAD_SESSION_ROUTINE_H_
#define HYCOLL_PRELOAD_SESSION_ROUTINE_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hycoll::preload {

/// MPI's collectives, by the names that settings and reports use. Blocking, nonblocking and
/// persistent forms count as different routines; persistent ones of what hycoll does not serve do
/// not count.
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
  allreduce_init,
  barrier_init,
  bcast_init,
  exscan_init,
  reduce_init,
  reduce_scatter_init,
  reduce_scatter_block_init,
  scan_init,
};
inline constexpr std::size_t kBlockingRoutineCount = 17;
inline constexpr std::size_t kRoutineCount = 2 * kBlockingRoutineCount + 8;

constexpr bool is_nonblocking(Routine routine) noexcept {
  return routine >= Routine::iallgather && routine <= Routine::iscatterv;
}

/// Whether it moves data of any type, which may be described by different types on different
/// processes, and combines nothing.
constexpr bool moves_data(Routine routine) noexcept {
  return routine == Routine::bcast || routine == Routine::ibcast;
}

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
