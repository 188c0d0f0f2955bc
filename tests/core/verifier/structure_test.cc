#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "core/schedule/builder.h"
#include "core/schedule/pairs.h"
#include "core/verifier/verifier.h"
#include "tests/core/verifier/examples.h"
#include "tests/core/verifier/expectations.h"
#include "tests/core/verifier/mutants.h"

namespace hycoll {
namespace structure_test {

using testing::EditableSchedule;
using testing::EditableStep;
using testing::expect_failure;
using testing::expect_step_failure;

TEST_SUITE("structure") {
  const auto check = Check::structure;
  const auto central = testing::central_example(2);
  const auto exchange = testing::exchange_example();
  const auto staged = testing::staged_example(2);
  const auto lines = testing::lines_example(2);

  TEST_CASE("a broadcast has no operator, not even for one operand") {
    expect_step_failure(
        testing::central_example(Collective::broadcast, 2, 0), 0, 1,
        [](EditableStep& s) { s.step.kind = StepKind::reduce; }, check,
        "worker 0 (node 0), strand 0, step 1 (reduce): has no operator, for broadcast combines "
        "nothing");
  }

  TEST_CASE("strands") {
    expect_failure(
        central, [](EditableSchedule& s) { s.frame.strands[1].worker = 2; }, check,
        "strand 1 names worker 2 of 2");
    expect_failure(
        central, [](EditableSchedule& s) { s.frame.strands[1].worker = 0; }, check,
        "worker 1 has no strand");
  }

  TEST_CASE("buffers") {
    expect_failure(
        central, [](EditableSchedule& s) { s.frame.buffers[1].owner = 2; }, check,
        "buffer 1 names owner 2 of 2");
    expect_failure(
        central, [](EditableSchedule& s) { s.frame.buffers[1].chunk_count = 3; }, check,
        "buffer 1 has 3 chunks from 0 on, the partition has 2");
    expect_failure(
        exchange, [](EditableSchedule& s) { s.frame.buffers[4].first_chunk = 1; }, check,
        "buffer 4 has 1 chunks from 1 on, the partition has 1");
    const std::string order =
        " is out of order: expected the inputs of the 2 members, then their outputs, then the "
        "others";
    expect_failure(
        central, [](EditableSchedule& s) { std::swap(s.frame.buffers[1], s.frame.buffers[2]); },
        check, "buffer 1" + order);
    expect_failure(
        central, [](EditableSchedule& s) { s.frame.buffers[3].chunk_count = 1; }, check,
        "buffer 3, the output of member 1, has 1 chunks from 0 on, expected 2 from 0 on");
    expect_failure(
        exchange, [](EditableSchedule& s) { s.frame.buffers[4].role = BufferRole::output; }, check,
        "buffer 4" + order);
    expect_failure(
        central, [](EditableSchedule& s) { s.frame.buffers.resize(3); }, check,
        "3 buffers are too few for the inputs and outputs of 2 members");
    expect_failure(
        central, [](EditableSchedule& s) { s.frame.chunk_count = 0; }, check,
        "the partition has 0 chunks");
  }

  TEST_CASE("flags") {
    expect_failure(
        central, [](EditableSchedule& s) { s.frame.flags[0].writer_strand = 2; }, check,
        "flag 0 names writer strand 2 of 2");
    expect_failure(
        central, [](EditableSchedule& s) { s.frame.flags[0].node = 1; }, check,
        "flag 0 is on node 1, its writer on node 0");
    expect_step_failure(
        central, 1, 0, [](EditableStep& s) { s.step.flag = 7; }, check,
        "worker 1 (node 0), strand 1, step 0 (signal): names flag 7 of 2");
    expect_step_failure(
        central, 1, 0, [](EditableStep& s) { s.step.flag = 1; }, check,
        "worker 1 (node 0), strand 1, step 0 (signal): raises flag 1, which only strand 0 may do");
    expect_step_failure(
        central, 1, 0, [](EditableStep& s) { s.step.value = 2; }, check,
        "worker 1 (node 0), strand 1, step 0 (signal): raises flag 0 to 2, expected 1");
    expect_step_failure(
        central, 1, 1, [](EditableStep& s) { s.step.flag = -1; }, check,
        "worker 1 (node 0), strand 1, step 1 (wait): names flag -1 of 2");
    for (const int value : {0, 2}) {
      expect_step_failure(
          central, 1, 1, [&](EditableStep& s) { s.step.value = value; }, check,
          "worker 1 (node 0), strand 1, step 1 (wait): waits until flag 1 has reached " +
              std::to_string(value) + ", but it is raised 1 times");
    }
    expect_step_failure(
        testing::native_example(2), 3, 1, [](EditableStep& s) { s.step.flag = 1; }, check,
        "worker 3 (node 1), strand 3, step 1 (wait): waits for flag 1 of node 0");
  }

  TEST_CASE("numbers of spans") {
    const auto expect = [&](int step, const std::function<void(EditableStep&)>& change,
                            const std::string& kind, const std::string& message) {
      expect_step_failure(exchange, 0, step, change, check,
                          "worker 0 (node 0), strand 0, step " + std::to_string(step) + " (" +
                              kind + "): " + message);
    };
    expect(
        0, [](EditableStep& s) { s.sources = s.destinations; }, "recv",
        "has 1 destinations and 1 sources, expected 1 and 0");
    expect(
        1, [](EditableStep& s) { s.sources.clear(); }, "send",
        "has 0 destinations and 0 sources, expected 0 and 1");
    expect(
        2, [](EditableStep& s) { s.destinations.clear(); }, "reduce",
        "has 0 destinations and 2 sources, expected 1 or more and 1 or more");
    expect(
        2, [](EditableStep& s) { s.step.kind = StepKind::copy; }, "copy",
        "collects 2 sources, which only collectives with pairs do");
    expect(
        2, [](EditableStep& s) { s.step.kind = StepKind::native; }, "native",
        "has 1 destinations and 2 sources, expected 1 and 1");
    expect(
        2, [](EditableStep& s) { s.step.kind = StepKind::wait; }, "wait",
        "has 1 destinations and 2 sources, expected 0 and 0");
    expect(
        2, [](EditableStep& s) { s.step.kind = static_cast<StepKind>(9); }, "?",
        "there is no kind 9");
    Schedule outside = exchange;
    outside.strands[0].steps[2].first_span = 8;
    CHECK(verify(outside).failure.ends_with(
        "has spans from 8 on that lie outside the schedule's 10"));
  }

  TEST_CASE("spans") {
    const auto expect = [&](const Schedule& schedule, int step,
                            const std::function<void(EditableStep&)>& change,
                            const std::string& message) {
      expect_step_failure(schedule, 0, step, change, check,
                          "worker 0 (node 0), strand 0, step " + std::to_string(step) + message);
    };
    expect(
        exchange, 0, [](EditableStep& s) { s.destinations[0].buffer = 6; },
        " (recv): names buffer 6 of 6");
    expect(
        exchange, 0, [](EditableStep& s) { s.destinations[0].first_chunk = 1; },
        " (recv): names 1 chunks from 1 on of buffer 4, which has 1 from 0 on");
    expect(
        exchange, 0, [](EditableStep& s) { s.destinations[0].chunk_count = 0; },
        " (recv): names 0 chunks from 0 on of buffer 4, which has 1 from 0 on");
    expect(
        central, 1,
        [](EditableStep& s) {
          s.sources[1] = {1, 1, 1};
        },
        " (reduce): mixes 2 chunks from 0 on with 1 from 1 on");
    expect(
        central, 1, [](EditableStep& s) { s.destinations[1] = s.destinations[0]; },
        " (reduce): writes buffer 2 twice");
    expect(
        central, 1, [](EditableStep& s) { s.destinations[1].buffer = 1; },
        " (reduce): writes the input of member 1");
  }

  TEST_CASE("copies that collect") {
    const auto packed = testing::packed_alltoall_example();
    const auto expect = [&](const std::function<void(EditableStep&)>& change,
                            const std::string& message) {
      expect_step_failure(packed, 0, 9, change, check,
                          "worker 0 (node 0), strand 0, step 9 (copy): " + message);
    };
    expect(
        [](EditableStep& s) {
          s.destinations.push_back({5, 0, 2});
        },
        "collects 2 sources in 2 destinations, expected 1");
    expect([](EditableStep& s) { s.destinations.front().chunk_count = 1; },
           "collects 1 chunks after 1 in a destination of 1");
    expect([](EditableStep& s) { s.sources[1].chunk_count = 0; },
           "collects 0 chunks after 1 in a destination of 2");
    expect([](EditableStep& s) { s.sources.push_back(s.sources.back()); },
           "collects 1 chunks after 2 in a destination of 2");
    expect([](EditableStep& s) { std::swap(s.sources[0], s.sources[1]); },
           "mixes 1 chunks from 0 on with 1 from 1 on");
  }

  TEST_CASE("what is collected carries no signals") {
    const Shape shape = Shape::uniform(1, 2, 1);
    ScheduleBuilder builder(Collective::alltoall, "lines", shape, 4);
    const auto block = [&](int from, int to) {
      return ChunkRange{.first = chunk_of(shape, {.from = from, .to = to}), .count = 1};
    };
    std::array<BufferId, 2> sent{};
    for (const int member : {0, 1}) {
      const ChunkRange for_other = block(member, 1 - member);
      sent[static_cast<std::size_t>(member)] = builder.add_lines(member, for_other);
      builder.copy(member, span_of(sent[static_cast<std::size_t>(member)], for_other),
                   span_of(builder.input(member), for_other));
      const ChunkRange own = block(member, member);
      builder.copy(member, span_of(builder.output(member), own),
                   span_of(builder.input(member), own));
    }
    for (const int member : {0, 1}) {
      const ChunkRange from_other = block(1 - member, member);
      builder.copy(member, span_of(builder.output(member), from_other),
                   span_of(sent[static_cast<std::size_t>(1 - member)], from_other));
    }
    expect_step_failure(
        std::move(builder).finish(), 1, 2,
        [&](EditableStep& s) {
          s.destinations.front().chunk_count = 2;
          s.sources.push_back(span_of(1, block(1, 1)));
        },
        check,
        "worker 1 (node 0), strand 1, step 2 (copy): collects from lines 4, which carry signals");
  }

  TEST_CASE("what a worker may touch") {
    const auto expect = [&](const Schedule& schedule, int step,
                            const std::function<void(EditableStep&)>& change,
                            const std::string& message) {
      expect_step_failure(schedule, 0, step, change, check,
                          "worker 0 (node 0), strand 0, step " + std::to_string(step) + message);
    };
    expect(
        exchange, 1, [](EditableStep& s) { s.sources[0].buffer = 1; },
        " (send): touches buffer 1 of node 1");
    expect(
        staged, 0, [](EditableStep& s) { s.sources[0].buffer = 1; },
        " (copy): touches the input of member 1, which is staged: only its process sees it");
    expect(
        staged, 3, [](EditableStep& s) { s.destinations[0].buffer = 3; },
        " (reduce): touches the output of member 1, which is staged: only its process sees it");
    expect(
        lines, 0, [](EditableStep& s) { s.destinations[0].buffer = 5; },
        " (copy): writes lines 5, which only worker 1 may do");
    expect_failure(
        lines, [](EditableSchedule& s) { s.strands[0].push_back(s.at(0, 0)); }, check,
        "worker 0 (node 0), strand 0, step 2 (copy): writes lines 4, which have been written "
        "before in the same run");
    expect_failure(
        exchange, [](EditableSchedule& s) { s.frame.buffers[4].role = BufferRole::lines; }, check,
        "worker 0 (node 0), strand 0, step 0 (recv): touches lines 4, which only a copy or a "
        "reduce may do");
    expect_failure(
        testing::native_example(2), [](EditableSchedule& s) { s.at(1, 0) = s.at(0, 1); }, check,
        "worker 1 (node 0), strand 1, step 0 (reduce): touches the scratch of worker 0");
  }

  TEST_CASE("only workers with a member touch lines") {
    ScheduleBuilder builder(Collective::allreduce, "helper",
                            Shape({{.members = 1, .workers = 2}}, 1), 1);
    const Span lines_of_helper = span_of(builder.add_lines(1, {0, 1}), {0, 1});
    builder.copy(1, lines_of_helper, span_of(builder.input(0), {0, 1}));
    CHECK(verify(std::move(builder).finish())
              .failure.ends_with("worker 1 (node 0), strand 1, step 0 (copy): touches lines 2, "
                                 "which only workers with a member may do"));
  }

  TEST_CASE("dependencies") {
    const auto expect = [&](int dependency, const std::string& message) {
      expect_step_failure(
          exchange, 0, 1, [&](EditableStep& s) { s.dependencies = {dependency}; }, check,
          "worker 0 (node 0), strand 0, step 1 (send): " + message);
    };
    expect_step_failure(
        exchange, 0, 1,
        [](EditableStep& s) {
          s.dependencies = {0, 0};
        },
        check, "worker 0 (node 0), strand 0, step 1 (send): depends on step 0 twice");
    expect(1, "depends on step 1, which is not an earlier one");
    expect(2, "depends on step 2, which is not an earlier one");
    expect(-1, "depends on step -1, which is not an earlier one");
    expect_step_failure(
        staged, 0, 3, [](EditableStep& s) { s.dependencies = {0}; }, check,
        "worker 0 (node 0), strand 0, step 3 (reduce): depends on step 0, a copy, which is not "
        "asynchronous");
    Schedule outside = exchange;
    outside.strands[0].steps[2].dependency_count = 9;
    CHECK(verify(outside).failure.ends_with(
        "has 9 dependencies from 0 on that lie outside the schedule's 4"));
  }

  TEST_CASE("lanes, nodes and tags") {
    const auto expect = [&](const std::function<void(Step&)>& change, const std::string& message) {
      expect_step_failure(
          exchange, 0, 1, [&](EditableStep& s) { change(s.step); }, check,
          "worker 0 (node 0), strand 0, step 1 (send): " + message);
    };
    expect([](Step& s) { s.lane = 1; }, "uses lane 1 of 1");
    expect([](Step& s) { s.lane = -1; }, "uses lane -1 of 1");
    expect([](Step& s) { s.peer_node = 2; }, "names node 2 of 2");
    expect([](Step& s) { s.peer_node = -1; }, "names node -1 of 2");
    expect([](Step& s) { s.peer_node = 0; }, "exchanges a message with its own node");
    expect([](Step& s) { s.tag = -1; }, "has tag -1 of 8191");
    expect([](Step& s) { s.tag = kMostTags; }, "has tag 8191 of 8191");
    expect_failure(
        testing::native_example(2), [](EditableSchedule& s) { s.at(1, 0) = s.at(0, 2); }, check,
        "worker 1 (node 0), strand 1, step 0 (native): touches the scratch of worker 0");
    expect_failure(
        testing::lines_and_messages_example(),
        [](EditableSchedule& s) {
          s.strands[1].push_back(s.at(0, 2));
          s.strands[1].back().sources[0].buffer = 5;
        },
        check, "worker 1 (node 0), strand 1, step 2 (send): uses lane 0, whose leader is worker 0");
  }
}

}  // namespace structure_test
}  // namespace hycoll
