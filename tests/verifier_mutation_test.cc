// Every mutant of several correct schedules is judged by the verifier and by the reference, which
// must agree on whether it is correct and, if not, on the check that fails. The mutants that
// survive must be correct for a reason that is given here.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <string>
#include <vector>

#include "collectives/registry.h"
#include "core/schedule_text.h"
#include "core/verifier.h"
#include "tests/verifier_examples.h"
#include "tests/verifier_mutants.h"
#include "tests/verifier_reference.h"

namespace hycoll {
namespace {

using testing::EditableSchedule;
using testing::EditableStep;
using testing::Mutant;
using testing::Mutation;

std::string describe(const Schedule& schedule, const Mutant& mutant) {
  std::string text = fmt::format("{} on {}: {} {}", schedule.algorithm, to_text(schedule.shape),
                                 name_of(mutant.mutation), mutant.variant);
  if (mutant.strand < 0) return text;
  const Step& step = schedule.strands[static_cast<std::size_t>(mutant.strand)]
                         .steps[static_cast<std::size_t>(mutant.step)];
  return text + fmt::format(", strand {} step {}: {}", mutant.strand, mutant.step,
                            describe_step(schedule, step));
}

/// Whether a mutant survives under both aliasings; fails the test where the reference disagrees.
bool survives(const Schedule& schedule, const Mutant& mutant) {
  bool survived = true;
  for (const Aliasing aliasing : {Aliasing::distinct, Aliasing::in_place}) {
    const Verdict verdict = verify(mutant.schedule, aliasing);
    survived = survived && verdict.correct;
    if (!verdict.correct && verdict.failed_check == Check::structure) return false;
    const auto expected = testing::failed_check_by_reference(mutant.schedule, aliasing);
    const bool agrees = verdict.correct ? !expected.has_value() : expected == verdict.failed_check;
    if (!agrees) {
      FAIL_CHECK(fmt::format("{} ({}): the reference says {}, the verifier {} {}",
                             describe(schedule, mutant), name_of(aliasing),
                             expected ? name_of(*expected) : "correct",
                             verdict.correct ? "correct" : "wrong", verdict.failure));
    }
  }
  return survived;
}

/// A buffer's memory when input and output of a member are the same.
int memory_of(const Schedule& schedule, const Span& span) {
  const int members = schedule.shape.member_count();
  return span.buffer < 2 * members ? span.buffer % members : span.buffer;
}

BufferRole role_of(const Schedule& schedule, const Span& span) {
  return schedule.buffers[static_cast<std::size_t>(span.buffer)].role;
}

/// Doing a step twice changes nothing if it does not read what it has written; lines are written
/// once.
bool is_idempotent(const Schedule& schedule, const EditableStep& at) {
  for (const Span& destination : at.destinations) {
    if (role_of(schedule, destination) == BufferRole::lines) return false;
    for (const Span& source : at.sources) {
      const bool same = memory_of(schedule, source) == memory_of(schedule, destination);
      if (same && at.sources.size() > 1) return false;
    }
  }
  return true;
}

bool are_disjoint(const Schedule& schedule, const EditableStep& a, const EditableStep& b) {
  const auto writes_into = [&](const EditableStep& writer, const std::vector<Span>& spans) {
    for (const Span& written : writer.destinations) {
      for (const Span& span : spans) {
        if (memory_of(schedule, written) == memory_of(schedule, span)) return true;
      }
    }
    return false;
  };
  return !writes_into(a, b.destinations) && !writes_into(a, b.sources) &&
         !writes_into(b, a.sources);
}

bool touches_lines(const Schedule& schedule, const EditableStep& at) {
  const auto is_lines = [&](const Span& s) { return role_of(schedule, s) == BufferRole::lines; };
  return std::ranges::any_of(at.destinations, is_lines) ||
         std::ranges::any_of(at.sources, is_lines);
}

/// Two waits in a row may change places, and so may two steps in a row that copy, reduce or start a
/// message and touch different memory.
bool may_change_places(const Schedule& schedule, const EditableStep& a, const EditableStep& b) {
  if (a.step.kind == StepKind::wait && b.step.kind == StepKind::wait) return true;
  const auto moves_data = [&](const EditableStep& at) {
    return at.step.kind != StepKind::wait && at.step.kind != StepKind::signal &&
           at.step.kind != StepKind::native && !touches_lines(schedule, at);
  };
  return moves_data(a) && moves_data(b) && a.dependencies.empty() && b.dependencies.empty() &&
         are_disjoint(schedule, a, b);
}

/// Whether no step reads a buffer, and it is no output.
bool is_useless(const Schedule& schedule, const Span& written) {
  if (role_of(schedule, written) == BufferRole::output) return false;
  return std::ranges::none_of(schedule.strands, [&](const Strand& strand) {
    return std::ranges::any_of(strand.steps, [&](const Step& step) {
      return std::ranges::any_of(schedule.sources(step),
                                 [&](const Span& read) { return read.buffer == written.buffer; });
    });
  });
}

/// Whether a flag concerns its writer's worker only, or nobody: a worker does not end before all of
/// its strands anyway.
bool is_flag_of_one_worker(const Schedule& schedule, int flag) {
  const int writer = schedule.flags[static_cast<std::size_t>(flag)].writer_strand;
  const int worker = schedule.strands[static_cast<std::size_t>(writer)].worker;
  return std::ranges::all_of(schedule.strands, [&](const Strand& strand) {
    return strand.worker == worker || std::ranges::none_of(strand.steps, [&](const Step& step) {
             return step.kind == StepKind::wait && step.flag == flag;
           });
  });
}

struct Example {
  std::string algorithm;
  int member_count;
  friend auto operator<=>(const Example&, const Example&) = default;
};

TEST_CASE("examples: mutants survive only where they change nothing, in exact numbers") {
  // The rules above give those of repeat_step and a lower bound
  // of those of exchange_with_next; all numbers that are not here are 0.
  const std::map<Example, std::map<Mutation, int>> expected = {
      // One reduce computes what all members get, so its order is a matter of taste.
      {{"central", 2}, {{Mutation::exchange_sources, 1}}},
      {{"central", 4}, {{Mutation::exchange_sources, 3}}},
      // A member reads its input instead of the copy that it has staged. It waits for the second
      // signal of another, which is given without waiting for it, instead of the first.
      {{"staged", 2}, {{Mutation::other_buffer, 2}, {Mutation::wait_for_later, 2}}},
      {{"staged", 3}, {{Mutation::other_buffer, 3}, {Mutation::wait_for_later, 6}}},
      // A member reads its input instead of the copy in its own lines.
      {{"lines", 2}, {{Mutation::other_buffer, 2}}},
      {{"lines", 3}, {{Mutation::other_buffer, 3}}},
      // Each partial sum is computed once.
      {{"chain", 2}, {{Mutation::exchange_sources, 2}}},
      {{"chain", 4}, {{Mutation::exchange_sources, 6}}},
      // On lane 1 one node computes for both, on lane 0 each for itself.
      {{"strands", 2}, {{Mutation::exchange_sources, 1}}},
      // The sum of a node is computed once. A native call of one node has no partner to agree with.
      {{"native", 2}, {{Mutation::exchange_sources, 1}, {Mutation::wrong_tag, 1}}},
      {{"native", 6}, {{Mutation::exchange_sources, 3}}},
      {{"lines-and-messages", 4}, {{Mutation::exchange_sources, 2}}},
  };
  int mutant_count = 0;
  for (const Schedule& schedule : testing::all_examples()) {
    EditableSchedule original(schedule);
    std::map<Mutation, int> survivors;
    for (const Mutant& mutant : testing::mutants_of(schedule)) {
      ++mutant_count;
      const bool survived = survives(schedule, mutant);
      INFO(describe(schedule, mutant));
      if (mutant.mutation == Mutation::repeat_step) {
        CHECK(survived == is_idempotent(schedule, original.at(mutant.strand, mutant.step)));
      } else if (mutant.mutation == Mutation::exchange_with_next) {
        const bool must_survive =
            may_change_places(schedule, original.at(mutant.strand, mutant.step),
                              original.at(mutant.strand, mutant.step + 1));
        CHECK((survived || !must_survive));
      } else if (survived) {
        ++survivors[mutant.mutation];
      }
    }
    const auto at = expected.find({schedule.algorithm, schedule.shape.member_count()});
    const auto& counts = at == expected.end() ? std::map<Mutation, int>() : at->second;
    INFO(schedule.algorithm << " of " << schedule.shape.member_count());
    for (int m = 0; m <= static_cast<int>(Mutation::lines_as_staging); ++m) {
      const auto mutation = static_cast<Mutation>(m);
      INFO(name_of(mutation));
      const auto count = counts.find(mutation);
      CHECK(survivors[mutation] == (count == counts.end() ? 0 : count->second));
    }
  }
  CHECK(mutant_count > 3000);
}

/// Why a mutant of a generated schedule is correct; empty if there is no reason. Exchanges of
/// neighbouring sources or steps, and other buffers, are left to the reference alone.
std::string_view justification(const Schedule& schedule, const EditableStep& at,
                               Mutation mutation) {
  switch (mutation) {
    case Mutation::exchange_sources:
    case Mutation::exchange_with_next:
    case Mutation::other_buffer:
      return "the reference";
    case Mutation::repeat_step:
      return is_idempotent(schedule, at) ? "idempotent" : "";
    case Mutation::drop_signal:
    case Mutation::drop_step:
      if (at.step.kind == StepKind::signal || at.step.kind == StepKind::wait) {
        return is_flag_of_one_worker(schedule, at.step.flag) ? "nobody else's flag" : "";
      }
      return std::ranges::all_of(at.destinations,
                                 [&](const Span& span) { return is_useless(schedule, span); }) &&
                     at.step.kind == StepKind::copy
                 ? "nobody reads it"
                 : "";
    case Mutation::drop_dependency:
      // A signal waits for everything under way, as the builder has it, even if nobody who waits
      // for it touches that.
      return at.step.kind == StepKind::signal ? "not announced" : "";
    default:
      return "";
  }
}

TEST_CASE("generated schedules: every survivor has a reason") {
  constexpr std::array kShapes = {std::array{2, 2, 1}, std::array{1, 3, 2}, std::array{3, 1, 1},
                                  std::array{2, 1, 2}};
  int mutant_count = 0;
  for (const Algorithm& algorithm : allreduce_algorithms()) {
    for (const auto& [nodes, members, lanes] : kShapes) {
      const Shape shape = Shape::uniform(nodes, members, lanes);
      if (!algorithm.serves_shape(shape)) continue;
      const Schedule schedule = algorithm.generate(shape);
      const Verdict verdict = verify(schedule);
      REQUIRE_MESSAGE(verdict.correct, verdict.failure);
      EditableSchedule original(schedule);
      for (const Mutant& mutant : testing::mutants_of(schedule)) {
        ++mutant_count;
        if (!survives(schedule, mutant)) continue;
        INFO(describe(schedule, mutant));
        if (mutant.mutation == Mutation::lines_as_staging) {
          CHECK(is_useless(schedule, Span{mutant.variant, 0, 1}));
        } else {
          const EditableStep& at = original.at(mutant.strand, mutant.step);
          CHECK_FALSE(justification(schedule, at, mutant.mutation).empty());
        }
      }
    }
  }
  CHECK(mutant_count > 5000);
}

}  // namespace
}  // namespace hycoll
