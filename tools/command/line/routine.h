#ifndef HYCOLL_TOOLS_COMMAND_LINE_ROUTINE_H_
#define HYCOLL_TOOLS_COMMAND_LINE_ROUTINE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/collective.h"
#include "core/base/collective_traits.h"
#include "core/base/types.h"

namespace hycoll::command {

/// What the command line calls a collective: those that schedules perform, and the barrier, which
/// is performed as an allreduce.
enum class Routine : std::uint8_t {
  allreduce = static_cast<std::uint8_t>(Collective::allreduce),
  reduce = static_cast<std::uint8_t>(Collective::reduce),
  reduce_scatter = static_cast<std::uint8_t>(Collective::reduce_scatter),
  scan = static_cast<std::uint8_t>(Collective::scan),
  exscan = static_cast<std::uint8_t>(Collective::exscan),
  broadcast = static_cast<std::uint8_t>(Collective::broadcast),
  allgather = static_cast<std::uint8_t>(Collective::allgather),
  gather = static_cast<std::uint8_t>(Collective::gather),
  scatter = static_cast<std::uint8_t>(Collective::scatter),
  alltoall = static_cast<std::uint8_t>(Collective::alltoall),
  barrier = kCollectiveCount
};
inline constexpr int kRoutineCount = kCollectiveCount + 1;

/// All functions of this file are pure.
std::string_view name_of(Routine routine) noexcept;

/// The inverse of name_of, which also knows MPI's "bcast"; empty when there is none of that name.
std::optional<Routine> parse_routine(std::string_view name) noexcept;

/// Whether the result depends on an operator.
bool combines(Routine routine) noexcept;

/// What performs it.
Collective collective_of(Routine routine) noexcept;

/// "allreduce, reduce, ...".
std::string routine_names();

/// What is measured, whatever the size: the same on all members.
struct Problem {
  Routine routine = Routine::allreduce;
  DataType type = DataType::float32;
  Operator op = Operator::sum;
  int root = 0;  ///< Of the collectives that have one.
};

/// What a member's output holds after a call: elements [first, first + count) of the input vector,
/// reduced over the members first_rank..first_rank+rank_count-1. With count 0 the output is not
/// touched. With blocks, element i is element first + i % block of member i / block's input.
struct ExpectedOutput {
  std::size_t first = 0;
  std::size_t count = 0;
  int first_rank = 0;
  int rank_count = 0;
  std::size_t block = 0;  ///< 0: no blocks.
};

/// Of vectors of `count` elements; for reduce_scatter and scatter the members get equal blocks of
/// them, for allgather and gather they bring them, and for alltoall they have one for each.
/// Requires that unsuitable_count finds nothing.
ExpectedOutput expected_output(const Problem& problem, std::size_t count, int rank,
                               int member_count) noexcept;

/// Why vectors of `count` elements are not possible with so many members: some collectives need
/// equal blocks. Empty if they are.
std::optional<std::string> unsuitable_count(const Problem& problem, std::size_t count,
                                            int member_count);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_LINE_ROUTINE_H_
