// Every mutant of several correct schedules is judged by the verifier and by the reference, which
// must agree on whether it is correct and, if not, on the check that fails. The mutants that
// survive must be correct for a reason that is given here.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/schedule/schedule_text.h"
#include "core/verifier/verifier.h"
#include "tests/core/verifier/examples.h"
#include "tests/core/verifier/mutants.h"
#include "tests/core/verifier/reference.h"
#include "tests/support/sanitized.h"

namespace hycoll {
namespace mutation_test {

using testing::EditableSchedule;
using testing::EditableStep;
using testing::kMutationCount;
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

/// Doing a step twice changes nothing if it does not combine what it has written; lines and streams
/// are written once, and streams are read once.
bool is_idempotent(const Schedule& schedule, const EditableStep& at) {
  const bool combines_several = at.step.kind == StepKind::reduce && at.sources.size() > 1;
  for (const Span& destination : at.destinations) {
    if (carries_signals(role_of(schedule, destination))) return false;
    for (const Span& source : at.sources) {
      if (role_of(schedule, source) == BufferRole::stream) return false;
      const bool same = memory_of(schedule, source) == memory_of(schedule, destination);
      if (same && combines_several) return false;
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

bool touches_awaited(const Schedule& schedule, const EditableStep& at) {
  const auto is_awaited = [&](const Span& s) { return carries_signals(role_of(schedule, s)); };
  return std::ranges::any_of(at.destinations, is_awaited) ||
         std::ranges::any_of(at.sources, is_awaited);
}

/// Whether a reduce of its one source does what a copy does: only where there is an operator, and
/// streams are written and read by copies.
bool is_reduce_of_one(const Schedule& schedule, const EditableStep& at) {
  const auto is_stream = [&](const Span& s) { return role_of(schedule, s) == BufferRole::stream; };
  return combines(schedule.collective) && std::ranges::none_of(at.destinations, is_stream) &&
         std::ranges::none_of(at.sources, is_stream);
}

/// Two waits in a row may change places, and so may two steps in a row that copy, reduce or start a
/// message and touch different memory.
bool may_change_places(const Schedule& schedule, const EditableStep& a, const EditableStep& b) {
  if (a.step.kind == StepKind::wait && b.step.kind == StepKind::wait) return true;
  const auto moves_data = [&](const EditableStep& at) {
    return at.step.kind != StepKind::wait && at.step.kind != StepKind::signal &&
           at.step.kind != StepKind::native && !touches_awaited(schedule, at);
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

bool are_useless(const Schedule& schedule, const std::vector<Span>& written) {
  return std::ranges::all_of(written, [&](const Span& span) { return is_useless(schedule, span); });
}

/// Whether nobody reads what the receiver of a message writes: a ring may send on what is known.
bool is_received_for_nothing(const Schedule& schedule, int from_strand, const Step& send) {
  const auto node_of = [&](const Strand& strand) {
    return schedule.shape.node_of_worker(strand.worker);
  };
  const int from = node_of(schedule.strands[static_cast<std::size_t>(from_strand)]);
  return std::ranges::any_of(schedule.strands, [&](const Strand& strand) {
    return node_of(strand) == send.peer_node &&
           std::ranges::any_of(strand.steps, [&](const Step& step) {
             return step.kind == StepKind::recv && step.lane == send.lane &&
                    step.peer_node == from && step.tag == send.tag &&
                    std::ranges::all_of(schedule.destinations(step), [&](const Span& span) {
                      return is_useless(schedule, span);
                    });
           });
  });
}

/// Whether no other worker than a flag's writer waits for it to reach the value: a worker does not
/// end before all of its strands anyway.
bool is_awaited_by_nobody_else(const Schedule& schedule, int flag, int value) {
  const int writer = schedule.flags[static_cast<std::size_t>(flag)].writer_strand;
  const int worker = schedule.strands[static_cast<std::size_t>(writer)].worker;
  return std::ranges::all_of(schedule.strands, [&](const Strand& strand) {
    return strand.worker == worker || std::ranges::none_of(strand.steps, [&](const Step& step) {
             return step.kind == StepKind::wait && step.flag == flag && step.value == value;
           });
  });
}

/// Whether what one wait is for is signalled behind a wait like another one, or behind the signal
/// that this other one waits for, in the same strand.
bool implies(const Schedule& schedule, const Step& kept, const Step& dropped) {
  return std::ranges::any_of(schedule.strands, [&](const Strand& strand) {
    bool has_come_so_far = false;
    for (const Step& step : strand.steps) {
      if (step.kind == StepKind::signal && step.flag == kept.flag && step.value == kept.value) {
        return has_come_so_far;
      }
      const bool is_about_flag = step.kind == StepKind::wait || step.kind == StepKind::signal;
      has_come_so_far = has_come_so_far ||
                        (is_about_flag && step.flag == dropped.flag && step.value >= dropped.value);
    }
    return false;
  });
}

/// Whether a wait before this one, or next to it behind it, is enough.
bool is_implied_wait(const Schedule& schedule, int strand, int wait) {
  const std::vector<Step>& steps = schedule.strands[static_cast<std::size_t>(strand)].steps;
  const auto dropped = steps.begin() + wait;
  if (dropped->kind != StepKind::wait) return false;
  const auto is_wait = [](const Step& step) { return step.kind == StepKind::wait; };
  const auto end = std::find_if_not(dropped + 1, steps.end(), is_wait);
  return std::any_of(steps.begin(), end, [&](const Step& other) {
    return is_wait(other) && implies(schedule, other, *dropped);
  });
}

/// Whether all who wait for a signal have another wait that is enough.
bool is_implied_signal(const Schedule& schedule, const Step& signal) {
  for (int strand = 0; strand < static_cast<int>(schedule.strands.size()); ++strand) {
    const std::vector<Step>& steps = schedule.strands[static_cast<std::size_t>(strand)].steps;
    for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
      const Step& step = steps[static_cast<std::size_t>(i)];
      const bool is_waited_for =
          step.kind == StepKind::wait && step.flag == signal.flag && step.value == signal.value;
      if (is_waited_for && !is_implied_wait(schedule, strand, i)) return false;
    }
  }
  return true;
}

std::string name_of_example(const Schedule& schedule) {
  return fmt::format("{} of {}", describe_call(schedule), schedule.shape.member_count());
}

TEST_CASE("examples: mutants survive only where they change nothing, in exact numbers") {
  // The rules above give those of repeat_step and copy_as_reduce, and a lower bound
  // of those of exchange_with_next; all numbers that are not here are 0.
  const std::map<std::string, std::map<Mutation, int>> expected = {
      // One reduce computes what all members get, so its order is a matter of taste.
      {"allreduce 'central' of 2", {{Mutation::exchange_sources, 1}}},
      {"allreduce 'central' of 4", {{Mutation::exchange_sources, 3}}},
      // A member reads its input instead of the copy that it has staged. It waits for the second
      // signal of another, which is given without waiting for it, instead of the first. The second
      // signals and the waits for them keep staging, of which there are two sets.
      {"allreduce 'staged' of 2",
       {{Mutation::drop_step, 2},
        {Mutation::drop_signal, 2},
        {Mutation::other_buffer, 2},
        {Mutation::wait_for_earlier, 2},
        {Mutation::wait_for_later, 2}}},
      {"allreduce 'staged' of 3",
       {{Mutation::drop_step, 6},
        {Mutation::drop_signal, 3},
        {Mutation::other_buffer, 3},
        {Mutation::wait_for_earlier, 6},
        {Mutation::wait_for_later, 6}}},
      // A member reads its input instead of the copy in its own lines.
      {"allreduce 'lines' of 2", {{Mutation::other_buffer, 2}}},
      {"allreduce 'lines' of 3", {{Mutation::other_buffer, 3}}},
      // Each partial sum is computed once.
      {"allreduce 'chain' of 2", {{Mutation::exchange_sources, 2}}},
      {"allreduce 'chain' of 4", {{Mutation::exchange_sources, 6}}},
      // On lane 1 one node computes for both, on lane 0 each for itself.
      {"allreduce 'strands' of 2", {{Mutation::exchange_sources, 1}}},
      // The sum of a node is computed once. A native call of one node has no partner to agree with.
      {"allreduce 'native' of 2", {{Mutation::exchange_sources, 1}, {Mutation::wrong_tag, 1}}},
      {"allreduce 'native' of 6", {{Mutation::exchange_sources, 3}}},
      {"allreduce 'lines-and-messages' of 4", {{Mutation::exchange_sources, 2}}},
      // One member alone: all but exscan and broadcast promise the same, and those two nothing.
      {"allreduce 'central' of 1", {{Mutation::other_collective, 3}}},
      {"reduce to member 0 'central' of 1", {{Mutation::other_collective, 3}}},
      {"reduce_scatter 'central' of 1", {{Mutation::other_collective, 3}}},
      {"scan 'central' of 1", {{Mutation::other_collective, 3}}},
      {"exscan 'central' of 1", {{Mutation::other_collective, 1}}},
      {"broadcast from member 0 'central' of 1", {{Mutation::other_collective, 1}}},
      // With two members, an exscan is a broadcast from the first one, if it combines nothing.
      {"exscan 'chain' of 2", {{Mutation::other_collective, 1}}},
      {"broadcast from member 0 'central' of 2", {{Mutation::other_collective, 1}}},
      // Who has been served holds what the root holds.
      {"broadcast from member 0 'central' of 3", {{Mutation::other_buffer, 1}}},
      {"broadcast from member 1 'central' of 3", {{Mutation::other_buffer, 1}}},
      {"broadcast from member 2 'central' of 3", {{Mutation::other_buffer, 1}}},
      // Only an allreduce demands that outputs are the same expression.
      {"reduce to member 0 'central' of 2", {{Mutation::exchange_sources, 1}}},
      {"reduce to member 1 'central' of 2", {{Mutation::exchange_sources, 1}}},
      {"reduce_scatter 'central' of 2", {{Mutation::exchange_sources, 2}}},
      {"scan 'central' of 2", {{Mutation::exchange_sources, 1}}},
      {"reduce to member 0 'central' of 3", {{Mutation::exchange_sources, 2}}},
      {"reduce to member 1 'central' of 3", {{Mutation::exchange_sources, 2}}},
      {"reduce to member 2 'central' of 3", {{Mutation::exchange_sources, 2}}},
      {"reduce_scatter 'central' of 3", {{Mutation::exchange_sources, 6}}},
      {"scan 'central' of 3", {{Mutation::exchange_sources, 3}}},
      {"exscan 'central' of 3", {{Mutation::exchange_sources, 1}}},
      {"reduce to member 0 'chain' of 3", {{Mutation::exchange_sources, 4}}},
      {"reduce to member 2 'chain' of 3", {{Mutation::exchange_sources, 4}}},
      {"scan 'chain' of 2", {{Mutation::exchange_sources, 2}}},
      {"scan 'chain' of 4", {{Mutation::exchange_sources, 6}}},
      {"exscan 'chain' of 4", {{Mutation::exchange_sources, 4}}},
      // The root gets each neighbour's sum in the place of the other's.
      {"reduce to member 1 'chain' of 3",
       {{Mutation::exchange_sources, 4}, {Mutation::wrong_peers, 4}}},
      // As with staged, the second signal is given without waiting for the other.
      {"reduce_scatter 'blocks' of 2",
       {{Mutation::exchange_sources, 2}, {Mutation::wait_for_later, 2}}},
      {"reduce_scatter 'blocks' of 3",
       {{Mutation::exchange_sources, 6}, {Mutation::wait_for_later, 6}}},
      // The aggregator gets the sums of its two neighbours in each other's place, or these the two
      // equal results. Signals announce sends of memory that nobody else writes before the next
      // run, and the root's own receive to a worker that does not use it.
      {"allreduce 'aggregator' of 3",
       {{Mutation::exchange_sources, 4},
        {Mutation::wrong_peers, 8},
        {Mutation::drop_dependency, 4}}},
      {"reduce to member 1 'aggregator' of 3",
       {{Mutation::exchange_sources, 4},
        {Mutation::wrong_peers, 4},
        {Mutation::drop_dependency, 4}}},
      // Who has been served holds all blocks.
      {"allgather 'central' of 2", {{Mutation::other_buffer, 2}}},
      {"allgather 'central' of 3", {{Mutation::other_buffer, 9}}},
      // A member sends its block from its input instead of the copy in its output.
      {"allgather 'ring' of 2", {{Mutation::other_buffer, 4}}},
      {"allgather 'ring' of 3", {{Mutation::other_buffer, 6}}},
      // Signals announce sends of memory that nobody else writes before the next run.
      {"allgather 'paired' of 4", {{Mutation::drop_dependency, 2}}},
      {"alltoall 'packed' of 4", {{Mutation::drop_dependency, 2}}},
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
      } else if (mutant.mutation == Mutation::copy_as_reduce) {
        CHECK(survived == is_reduce_of_one(schedule, original.at(mutant.strand, mutant.step)));
      } else if (survived) {
        ++survivors[mutant.mutation];
      }
    }
    const auto at = expected.find(name_of_example(schedule));
    const auto& counts = at == expected.end() ? std::map<Mutation, int>() : at->second;
    INFO(name_of_example(schedule));
    for (int m = 0; m < kMutationCount; ++m) {
      const auto mutation = static_cast<Mutation>(m);
      INFO(name_of(mutation));
      const auto count = counts.find(mutation);
      CHECK(survivors[mutation] == (count == counts.end() ? 0 : count->second));
    }
  }
  CHECK(mutant_count > 3000);
}

/// Whether a flag says that a worker has entered. In staged schedules all wait for all others, even
/// where other flags say so: then they compare their arguments, too.
bool is_staged_arrival(const Schedule& schedule, int flag) {
  const int strand = schedule.flags[static_cast<std::size_t>(flag)].writer_strand;
  const Step& first = schedule.strands[static_cast<std::size_t>(strand)].steps.front();
  return schedule.shape.visibility() == Visibility::staged && first.kind == StepKind::signal &&
         first.flag == flag;
}

/// Why a mutant of a generated schedule is correct; empty if there is no reason. Exchanges of
/// neighbouring sources or steps, and of messages, and other buffers, are left to the reference
/// alone.
std::string_view justification(const Schedule& schedule, const EditableStep& at,
                               const Mutant& mutant) {
  switch (mutant.mutation) {
    case Mutation::exchange_sources:
    case Mutation::exchange_with_next:
    case Mutation::wrong_peers:
    case Mutation::other_buffer:
      return "the reference";
    case Mutation::wait_for_later:
      return "waits longer";
    case Mutation::copy_as_reduce:
      return combines(schedule.collective) ? "reduces one operand" : "";
    case Mutation::repeat_step:
      return is_idempotent(schedule, at) ? "idempotent" : "";
    case Mutation::drop_signal:
    case Mutation::drop_step:
      if (is_implied_wait(schedule, mutant.strand, mutant.step)) return "another wait is enough";
      if (at.step.kind == StepKind::signal || at.step.kind == StepKind::wait) {
        if (is_staged_arrival(schedule, at.step.flag)) return "compares arguments";
        if (at.step.kind == StepKind::signal && is_implied_signal(schedule, at.step)) {
          return "other waits are enough";
        }
        return is_awaited_by_nobody_else(schedule, at.step.flag, at.step.value)
                   ? "no other worker waits for it"
                   : "";
      }
      return at.step.kind == StepKind::copy && are_useless(schedule, at.destinations)
                 ? "nobody reads it"
                 : "";
    case Mutation::add_source:
    case Mutation::drop_source:
    case Mutation::reduce_twice:
      // A reduce may be there for what it waits for.
      return are_useless(schedule, at.destinations) ? "nobody reads it" : "";
    case Mutation::drop_message:
      return at.step.kind == StepKind::send &&
                     is_received_for_nothing(schedule, mutant.strand, at.step)
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

/// With two members, an exscan is a broadcast from the first one.
bool is_same_promise(const Schedule& schedule, Collective other) {
  const auto is_either = [](const CollectiveTraits& collective) {
    return collective == traits_of(Collective::exscan) ||
           collective == traits_of(Collective::broadcast);
  };
  return schedule.shape.member_count() == 2 && schedule.root == 0 &&
         is_either(schedule.collective) && is_either(traits_of(other));
}

/// Checks the survivors among the mutants of a correct schedule; returns the number of mutants.
std::size_t check_survivors(const Schedule& schedule) {
  const Verdict verdict = verify(schedule);
  REQUIRE_MESSAGE(verdict.correct, verdict.failure);
  EditableSchedule original(schedule);
  const std::vector<Mutant> mutants = testing::mutants_of(schedule);
  for (const Mutant& mutant : mutants) {
    if (!survives(schedule, mutant)) continue;
    INFO(describe(schedule, mutant));
    if (mutant.mutation == Mutation::awaited_as_staging) {
      CHECK(is_useless(schedule, Span{mutant.variant, 0, 1}));
    } else {
      if (mutant.mutation == Mutation::other_collective) {
        CHECK(is_same_promise(schedule, static_cast<Collective>(mutant.variant)));
        continue;
      }
      REQUIRE(mutant.strand >= 0);  // no other root
      const EditableStep& at = original.at(mutant.strand, mutant.step);
      CHECK_FALSE(justification(schedule, at, mutant).empty());
    }
  }
  return mutants.size();
}

TEST_CASE("generated schedules: every survivor has a reason") {
  std::vector<Shape> shapes = {Shape::uniform(2, 1, 2), Shape({{1, 1}, {2, 2}, {0, 1}}, 1)};
  if (!tests::kIsSanitized) {
    shapes.insert(shapes.end(),
                  {Shape::uniform(2, 2, 1), Shape::uniform(1, 3, 2), Shape::uniform(3, 1, 1),
                   Shape({{1, 1}, {3, 3}, {0, 1}}, 2), Shape({{1, 1}, {0, 2}, {1, 1}}, 2)});
  }
  std::size_t mutant_count = 0;
  tests::Sample sample;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Shape& shape : shapes) {
      if (!algorithm->serves_shape(shape) || !sample.takes_next()) continue;
      mutant_count += check_survivors(algorithm->generate(shape));
      mutant_count +=
          check_survivors(algorithm->generate(shape.with_visibility(Visibility::staged)));
      const int last = shape.member_count() - 1;
      if (has_root(algorithm->collective)) {
        mutant_count += check_survivors(algorithm->generate(shape, 1, last));
      }
    }
  }
  CHECK(mutant_count > (tests::kIsSanitized ? 50 : 1600));
}

TEST_CASE("a node that passes on in the middle of a tree of specialised cores") {
  const Algorithm& algorithm = find_algorithm(Collective::broadcast, "core-specialised");
  const Shape shape({{1, 1}, {3, 3}, {1, 1}, {2, 2}}, 2);
  CHECK(check_survivors(algorithm.generate(shape, 1, 0)) > 300);
}

}  // namespace mutation_test
}  // namespace hycoll
