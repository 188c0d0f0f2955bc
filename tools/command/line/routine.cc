#include "tools/command/line/routine.h"

#include <fmt/format.h>

#include "core/base/collective_traits.h"

namespace hycoll::command {

std::string_view name_of(Routine routine) noexcept {
  return routine == Routine::barrier ? "barrier" : name_of(collective_of(routine));
}

std::optional<Routine> parse_routine(std::string_view name) noexcept {
  if (name == "bcast") return Routine::broadcast;
  for (int value = 0; value < kRoutineCount; ++value) {
    const auto routine = static_cast<Routine>(value);
    if (name_of(routine) == name) return routine;
  }
  return std::nullopt;
}

bool combines(Routine routine) noexcept {
  return routine != Routine::barrier && hycoll::combines(collective_of(routine));
}

Collective collective_of(Routine routine) noexcept {
  switch (routine) {
    case Routine::allreduce:
    case Routine::barrier:
      return Collective::allreduce;
    case Routine::reduce:
      return Collective::reduce;
    case Routine::reduce_scatter:
      return Collective::reduce_scatter;
    case Routine::scan:
      return Collective::scan;
    case Routine::exscan:
      return Collective::exscan;
    case Routine::broadcast:
      return Collective::broadcast;
    case Routine::allgather:
      return Collective::allgather;
    case Routine::gather:
      return Collective::gather;
    case Routine::scatter:
      return Collective::scatter;
    case Routine::alltoall:
      return Collective::alltoall;
  }
  return Collective::allreduce;
}

std::string routine_names() {
  std::string names;
  for (int value = 0; value < kRoutineCount; ++value) {
    names += fmt::format("{}{}", value == 0 ? "" : ", ", name_of(static_cast<Routine>(value)));
  }
  return names;
}

ExpectedOutput expected_output(const Problem& problem, std::size_t count, int rank,
                               int member_count) noexcept {
  const std::size_t block = count / static_cast<std::size_t>(member_count);
  switch (problem.routine) {
    case Routine::allreduce:
      return {.first = 0, .count = count, .rank_count = member_count};
    case Routine::reduce:
      return {.first = 0, .count = rank == problem.root ? count : 0, .rank_count = member_count};
    case Routine::reduce_scatter:
      return {.first = static_cast<std::size_t>(rank) * block,
              .count = block,
              .rank_count = member_count};
    case Routine::scan:
      return {.first = 0, .count = count, .rank_count = rank + 1};
    case Routine::exscan:
      return {.first = 0, .count = rank == 0 ? 0 : count, .rank_count = rank};
    case Routine::broadcast:
      return {.first = 0,
              .count = rank == problem.root ? 0 : count,
              .first_rank = problem.root,
              .rank_count = 1};
    case Routine::allgather:
      return {.first = 0, .count = count, .rank_count = 1, .block = block};
    case Routine::gather:
      return {
          .first = 0, .count = rank == problem.root ? count : 0, .rank_count = 1, .block = block};
    case Routine::scatter:
      return {.first = static_cast<std::size_t>(rank) * block,
              .count = block,
              .first_rank = problem.root,
              .rank_count = 1};
    case Routine::alltoall:
      return {.first = static_cast<std::size_t>(rank) * block,
              .count = count,
              .rank_count = 1,
              .block = block};
    case Routine::barrier:
      break;
  }
  return {};
}

std::optional<std::string> unsuitable_count(const Problem& problem, std::size_t count,
                                            int member_count) {
  if (!has_blocks(collective_of(problem.routine))) return std::nullopt;
  if (count % static_cast<std::size_t>(member_count) == 0) return std::nullopt;
  return fmt::format("{} elements are no {} equal blocks", count, member_count);
}

}  // namespace hycoll::command
