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
  return routine == Routine::barrier ? Collective::allreduce : static_cast<Collective>(routine);
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
  if (problem.routine == Routine::barrier) return {};
  const CollectiveTraits traits = traits_of(collective_of(problem.routine));
  const std::size_t block = count / static_cast<std::size_t>(member_count);
  ExpectedOutput expected{.count = count};
  if (traits.output.extent != Extent::vector)
    expected.first = static_cast<std::size_t>(rank) * block;
  if (traits.output.extent == Extent::block) expected.count = block;
  if (!traits.output.are_held_by(rank, problem.root)) expected.count = 0;
  switch (traits.result) {
    case Result::reduction:
      expected.rank_count = member_count;
      break;
    case Result::inclusive_prefix:
      expected.rank_count = rank + 1;
      break;
    case Result::exclusive_prefix:
      expected.rank_count = rank;
      break;
    case Result::copy:
      expected.rank_count = 1;
      if (begins_at_root(traits)) {
        expected.first_rank = problem.root;
      } else {
        expected.block = block;
      }
      break;
  }
  return expected;
}

std::optional<std::string> unsuitable_count(const Problem& problem, std::size_t count,
                                            int member_count) {
  if (!has_blocks(collective_of(problem.routine))) return std::nullopt;
  if (count % static_cast<std::size_t>(member_count) == 0) return std::nullopt;
  return fmt::format("{} elements are no {} equal blocks", count, member_count);
}

}  // namespace hycoll::command
