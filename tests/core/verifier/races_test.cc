#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "core/schedule/builder.h"
#include "core/verifier/verifier.h"
#include "tests/core/verifier/examples.h"
#include "tests/core/verifier/expectations.h"
#include "tests/core/verifier/mutants.h"

namespace hycoll {
namespace races_test {

using testing::EditableSchedule;
using testing::EditableStep;
using testing::expect_failure;
using testing::expect_step_failure;

TEST_SUITE("races") {
  const auto check = Check::races;

  TEST_CASE("a member's buffers are untouched before its owner has entered") {
    expect_failure(
        testing::central_example(2), [](EditableSchedule& s) { s.remove(0, 0); }, check,
        "worker 0 (node 0), strand 0, step 0 (reduce): may use chunk 0 of input(1) before worker "
        "1, its owner, has entered");
  }

  TEST_CASE("a member's buffers are untouched after its owner has left") {
    // The signal lets worker 1 go before the reduce.
    expect_failure(
        testing::central_example(2), [](EditableSchedule& s) { s.exchange_with_next(0, 1); }, check,
        "worker 0 (node 0), strand 0, step 2 (reduce): may still use chunk 0 of input(1) when "
        "worker 1, its owner, has left");
  }

  TEST_CASE("what is received is used after it has arrived") {
    expect_step_failure(
        testing::exchange_example(), 1, 2, [](EditableStep& s) { s.dependencies.clear(); }, check,
        "worker 1 (node 1), strand 1, step 2 (reduce): uses chunk 0 of scratch(1)#5 while step 0 "
        "of strand 1 (a recv) may still use it");
  }

  TEST_CASE("what is sent is overwritten after it has left, eager or not") {
    // Node 1 sends its running sum, and later receives the result into the same place.
    const Schedule chain = testing::chain_example(3);
    REQUIRE(chain.strands[1].steps[6].kind == StepKind::recv);
    expect_step_failure(
        chain, 1, 6, [](EditableStep& s) { s.dependencies.clear(); }, check,
        "worker 1 (node 1), strand 1, step 6 (recv): uses chunk 0 of output(1) while step 3 of "
        "strand 1 (a send) may still use it");
  }

  TEST_CASE("a signal does not announce what is still under way") {
    // The MPI library's result reaches the other member although nobody waited for it.
    EditableSchedule direct(testing::native_example(2));
    for (int node = 0; node < 2; ++node) {
      EditableStep copy = direct.at(2 * node, 3);
      direct.remove(2 * node, 3);
      direct.at(2 * node, 3).dependencies = {2};
      direct.strands[static_cast<std::size_t>(2 * node + 1)].push_back(copy);
      direct.at(2 * node + 1, 2).dependencies.clear();
      // The copy reads another member's output: its owner stays until then.
      const int flag = static_cast<int>(direct.frame.flags.size());
      direct.frame.flags.push_back({node, 2 * node + 1});
      EditableStep signal = direct.at(2 * node, 3);
      signal.dependencies.clear();
      signal.step.flag = flag;
      EditableStep wait = signal;
      wait.step.kind = StepKind::wait;
      direct.strands[static_cast<std::size_t>(2 * node + 1)].push_back(signal);
      direct.strands[static_cast<std::size_t>(2 * node)].push_back(wait);
    }
    expect_step_failure(
        direct.pack(), 0, 3, [](EditableStep& s) { s.dependencies.clear(); }, check,
        "worker 1 (node 0), strand 1, step 2 (copy): uses chunk 0 of output(0) while step 2 of "
        "strand 0 (a native) may still use it");
  }

  TEST_CASE("staging is not overwritten in the run after the next while somebody still reads it") {
    // Members cannot be two runs apart, but a worker without a member can lag behind.
    ScheduleBuilder builder(Collective::allreduce, "helper", Shape({{1, 2}}, 1), 1);
    const ChunkRange all = builder.all_chunks();
    const Span staging = span_of(builder.add_staging(0, all), all);
    const Span input = span_of(builder.input(0), all);
    const FlagId copied = builder.add_flag(0);
    const FlagId read = builder.add_flag(1);
    builder.copy(0, staging, input);
    builder.signal(0, copied);
    builder.copy(0, span_of(builder.output(0), all), input);
    builder.wait(1, copied);
    builder.copy(1, span_of(builder.add_scratch(1, all), all), staging);
    builder.signal(1, read);
    builder.wait(0, read);
    expect_failure(
        std::move(builder).finish(), [](EditableSchedule& s) { s.remove(0, 3); }, check,
        "worker 0 (node 0), strand 0, step 0 (copy): uses chunk 0 of staging(0)#2 while step 1 of "
        "strand 1 (a copy) of an earlier run may still use it");
  }

  TEST_CASE("staging may be overwritten in the next run while somebody still reads it") {
    EditableSchedule editable(testing::staged_example(2));
    editable.remove(0, 5);
    CHECK(verify(editable.pack()).correct);
  }

  TEST_CASE("two strands of a worker are as independent as two workers") {
    // Both lanes receive into the same scratch.
    expect_failure(
        testing::strands_example(),
        [](EditableSchedule& s) {
          for (const int strand : {0, 2}) {
            for (EditableStep& step : s.strands[static_cast<std::size_t>(strand)]) {
              for (auto* spans : {&step.destinations, &step.sources}) {
                for (Span& span : *spans) span.first_chunk = 0;
              }
            }
          }
          for (auto [strand, step] : {std::pair(3, 0), std::pair(3, 1)}) {
            for (auto* spans : {&s.at(strand, step).destinations, &s.at(strand, step).sources}) {
              for (Span& span : *spans) span.first_chunk = 0;
            }
          }
        },
        check,
        "worker 0 (node 0), strand 2, step 0 (recv): uses chunk 0 of scratch(0)#4 while step 0 of "
        "strand 0 (a recv) may still use it");
  }

  TEST_CASE("nobody leaves before everybody has entered") {
    // Worker 0 does without the lines of worker 1, and so may run ahead of it.
    expect_failure(
        testing::lines_example(2), [](EditableSchedule& s) { s.at(0, 1).sources.pop_back(); },
        check, "worker 0 (node 0), strand 0: worker 0 may leave before worker 1 has entered");
  }

  TEST_CASE("a worker without a member may enter late") {
    ScheduleBuilder builder(Collective::allreduce, "helper",
                            Shape({{.members = 2, .workers = 3}}, 1), 1);
    for (const int member : {0, 1}) {
      builder.copy(member, span_of(builder.add_lines(member, {0, 1}), {0, 1}),
                   span_of(builder.input(member), {0, 1}));
    }
    for (const int member : {0, 1}) {
      builder.reduce(member, {span_of(builder.output(member), {0, 1})},
                     {span_of(4, {0, 1}), span_of(5, {0, 1})});
    }
    const Verdict verdict = verify(std::move(builder).finish());
    CHECK_MESSAGE(verdict.correct, verdict.failure);
  }

  TEST_CASE("lines that were read order what preceded their writer, and no more") {
    // Worker 1 writes its input into lines and, in the same step or before, into staging, which
    // worker 0 reads after the lines.
    enum class Order { before, same_step };
    const auto build = [](Order order) {
      ScheduleBuilder builder(Collective::allreduce, "lines-then-staging", Shape::uniform(1, 2, 1),
                              1);
      const auto all = [](BufferId buffer) { return span_of(buffer, {0, 1}); };
      const Span staging = all(builder.add_staging(0, {0, 1}));
      const Span lines_of_0 = all(builder.add_lines(0, {0, 1}));
      const Span lines_of_1 = all(builder.add_lines(1, {0, 1}));
      const Span done = all(builder.add_lines(0, {0, 1}));
      const Span seen = all(builder.add_scratch(0, {0, 1}));
      if (order == Order::same_step) {
        builder.copy(1, std::vector{staging, lines_of_1}, all(builder.input(1)));
      } else {
        builder.copy(1, staging, all(builder.input(1)));
        builder.copy(1, lines_of_1, all(builder.input(1)));
      }
      builder.copy(0, lines_of_0, all(builder.input(0)));
      builder.copy(0, seen, lines_of_1);
      builder.reduce(0, {all(builder.output(0))}, {all(builder.input(0)), staging});
      builder.copy(0, done, all(builder.output(0)));
      builder.copy(1, all(builder.output(1)), done);
      return std::move(builder).finish();
    };
    const Verdict before = verify(build(Order::before));
    CHECK_MESSAGE(before.correct, before.failure);
    const Verdict same_step = verify(build(Order::same_step));
    CHECK(same_step.failure.ends_with(
        "worker 0 (node 0), strand 0, step 2 (reduce): uses chunk 0 of staging(0)#4 while step 0 "
        "of strand 1 (a copy) may still use it"));
  }
}

TEST_SUITE("aliasing") {
  /// Every member reduces all inputs into its own output; all wait for all before and after.
  Schedule everybody_reduces() {
    ScheduleBuilder builder(Collective::allreduce, "everybody", Shape::uniform(1, 2, 1), 1);
    const FlagId flags[] = {builder.add_flag(0), builder.add_flag(1)};
    for (const int member : {0, 1}) builder.signal(member, flags[member]);
    for (const int member : {0, 1}) {
      builder.wait(member, flags[1 - member], 1);
      builder.reduce(member, {span_of(builder.output(member), {0, 1})},
                     {span_of(builder.input(0), {0, 1}), span_of(builder.input(1), {0, 1})});
      builder.signal(member, flags[member]);
    }
    for (const int member : {0, 1}) builder.wait(member, flags[1 - member], 2);
    return std::move(builder).finish();
  }

  TEST_CASE("a race that exists only in place") {
    const Schedule schedule = everybody_reduces();
    const Verdict distinct = verify(schedule, Aliasing::distinct);
    CHECK_MESSAGE(distinct.correct, distinct.failure);
    const Verdict in_place = verify(schedule, Aliasing::in_place);
    CHECK_FALSE(in_place.correct);
    CHECK(in_place.failed_check == Check::races);
    const Verdict both = verify(schedule);
    CHECK(both.failed_aliasing == Aliasing::in_place);
    CHECK(both.failure == in_place.failure);
    CHECK(both.failure.find("check 'races' (in-place buffers)") != std::string::npos);
  }

  TEST_CASE("a wrong result that exists only in place") {
    // Worker 0 reduces once for each member, the second time from an input that it has overwritten.
    EditableSchedule twice(testing::central_example(2));
    EditableStep second = twice.at(0, 1);
    twice.at(0, 1).destinations.pop_back();
    second.destinations.erase(second.destinations.begin());
    twice.strands[0].insert(twice.strands[0].begin() + 2, second);
    CHECK(verify(twice.pack(), Aliasing::distinct).correct);
    const Verdict in_place = verify(twice.pack(), Aliasing::in_place);
    CHECK(in_place.failed_check == Check::result);
    CHECK(in_place.failure.ends_with(
        "chunk 0 of the output of member 1 is ((0 1) 1), but that of member 0 is (0 1)"));
  }

  TEST_CASE("a copy that is needed only with distinct buffers") {
    ScheduleBuilder builder(Collective::allreduce, "nothing", Shape::uniform(1, 1, 1), 1);
    const Schedule nothing = std::move(builder).finish();
    CHECK(verify(nothing, Aliasing::in_place).correct);
    const Verdict distinct = verify(nothing, Aliasing::distinct);
    CHECK(distinct.failed_check == Check::result);
    CHECK(distinct.failure.ends_with("chunk 0 of the output of member 0 is never written"));
  }
}

}  // namespace races_test
}  // namespace hycoll
