// Collectives whose inputs are shorter than the vector: verified, staged, and in place with the
// input inside the output.

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "core/schedule/builder.h"
#include "core/staging/staging.h"
#include "core/verifier/verifier.h"
#include "tests/core/verifier/examples.h"
#include "tests/core/verifier/expectations.h"
#include "tests/core/verifier/mutants.h"

namespace hycoll {
namespace gathering_test {

using testing::EditableSchedule;
using testing::EditableStep;
using testing::expect_failure;
using testing::expect_step_failure;
using testing::kAllgather;

constexpr ChunkRange kNothing{};

TEST_CASE("inputs and outputs are blocks or vectors, of all members or of the root") {
  const Shape shape = Shape::uniform(2, 2, 1);
  for (int member = 0; member < 4; ++member) {
    const ChunkRange all{0, 8};
    const ChunkRange block{2 * member, 2};
    CHECK(input_chunks(kAllgather, shape, 8, 0, member) == block);
    CHECK(output_chunks(kAllgather, shape, 8, 0, member) == all);
    CHECK(input_chunks(testing::kGather, shape, 8, 2, member) == block);
    CHECK(output_chunks(testing::kGather, shape, 8, 2, member) == (member == 2 ? all : kNothing));
    CHECK(input_chunks(testing::kScatter, shape, 8, 2, member) == (member == 2 ? all : kNothing));
    CHECK(output_chunks(testing::kScatter, shape, 8, 2, member) == block);
  }
}

TEST_CASE("an input has its own block only") {
  const Schedule paired = testing::paired_allgather_example();
  expect_failure(
      paired,
      [](EditableSchedule& s) {
        s.frame.buffers[1].first_chunk = 0;
        s.frame.buffers[1].chunk_count = 4;
      },
      Check::structure,
      "buffer 1, the input of member 1, has 4 chunks from 0 on, expected 1 from 1 on");
  expect_step_failure(
      paired, 0, 2,
      [](EditableStep& s) {
        s.sources.front().first_chunk = s.destinations.front().first_chunk = 0;
      },
      Check::structure,
      "worker 0 (node 0), strand 0, step 2 (copy): names 1 chunks from 0 on of buffer 1, which has "
      "1 from 1 on");
  Schedule uneven = paired;
  uneven.chunk_count = 5;
  CHECK(verify(uneven).failure.ends_with(
      "the partition has 5 chunks, which 4 members cannot share equally"));
}

TEST_CASE("every chunk of a result is that of the member whose input holds it") {
  // The second of two blocks is received where the first one belongs, and the other way round.
  ScheduleBuilder builder(kAllgather, "mixed", Shape::uniform(1, 1, 1), 2);
  builder.copy(0, span_of(builder.output(0), {0, 1}), span_of(builder.input(0), {0, 1}));
  CHECK(verify(std::move(builder).finish(), Aliasing::distinct)
            .failure.ends_with("chunk 1 of the output of member 0 is never written"));

  const Schedule central = testing::central_example(testing::kGather, 3, 1);
  const Verdict verdict = verify(central);
  REQUIRE_MESSAGE(verdict.correct, verdict.failure);
  Schedule broadcast = central;
  broadcast.collective = traits_of(Collective::broadcast);
  CHECK_FALSE(verify(broadcast).correct);
}

/// 1 node of 2 members, allgather: each copies the other's block, and its own one if told so.
Schedule swap_example(bool copies_own_block) {
  ScheduleBuilder builder(kAllgather, "swap", Shape::uniform(1, 2, 1), 2);
  FlagId flags[2];
  for (int member = 0; member < 2; ++member) {
    flags[member] = builder.add_flag(member);
    builder.signal(member, flags[member]);
  }
  for (int member = 0; member < 2; ++member) {
    const int other = 1 - member;
    builder.wait(member, flags[other], 1);
    builder.copy(member, span_of(builder.output(member), {other, 1}),
                 span_of(builder.input(other), {other, 1}));
    if (copies_own_block) {
      builder.copy(member, span_of(builder.output(member), {member, 1}),
                   span_of(builder.input(member), {member, 1}));
    }
    builder.signal(member, flags[member]);
  }
  for (int member = 0; member < 2; ++member) builder.wait(member, flags[1 - member], 2);
  return std::move(builder).finish();
}

TEST_CASE("in place, the member's block is in the output from the start") {
  const Schedule without = swap_example(false);
  CHECK(verify(without, Aliasing::in_place).correct);
  const Verdict verdict = verify(without, Aliasing::distinct);
  CHECK(verdict.failed_check == Check::result);
  CHECK(verdict.failure.ends_with("chunk 0 of the output of member 0 is never written"));
}

TEST_CASE("in place, who writes its output may write what others still read of its input") {
  const Schedule with = swap_example(true);
  CHECK(verify(with, Aliasing::distinct).correct);
  const Verdict verdict = verify(with, Aliasing::in_place);
  CHECK(verdict.failed_check == Check::races);
  CHECK(
      verdict.failure.ends_with("worker 0 (node 0), strand 0, step 2 (copy): uses chunk 1 of "
                                "input(1) while step 3 of strand 1 (a copy) may still use it"));
}

TEST_CASE("staged: the same results by the same messages") {
  for (const Schedule& direct :
       {testing::central_example(kAllgather, 3), testing::central_example(testing::kGather, 3, 2),
        testing::central_example(testing::kScatter, 3, 1), testing::ring_allgather_example(3),
        testing::paired_allgather_example()}) {
    CAPTURE(direct.algorithm);
    const Schedule schedule = staged(direct);
    const Verdict verdict = verify(schedule);
    REQUIRE_MESSAGE(verdict.correct, verdict.failure);
    CHECK(verdict.tree_digest == verify(direct).tree_digest);
    CHECK(verdict.resources.message_count == verify(direct).resources.message_count);
  }
}

TEST_CASE(
    "staged, a message of several blocks lies in no member's buffer, where slices are apart") {
  const Schedule schedule = staged(testing::paired_allgather_example());
  for (const Strand& strand : schedule.strands) {
    for (const Step& step : strand.steps) {
      if (!is_asynchronous(step.kind)) continue;
      const Span& span = schedule.spans[static_cast<std::size_t>(step.first_span)];
      CHECK(span.chunk_count == 2);
      CHECK_FALSE(is_of_member(schedule.buffer_of(span).role));
    }
  }
}

}  // namespace gathering_test
}  // namespace hycoll
