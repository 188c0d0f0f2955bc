#include "core/verifier/verifier.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "core/schedule/builder.h"
#include "tests/core/verifier/examples.h"
#include "tests/core/verifier/expectations.h"
#include "tests/core/verifier/mutants.h"
#include "tests/core/verifier/reference.h"

namespace hycoll {
namespace verifier_test {

using testing::EditableSchedule;
using testing::EditableStep;
using testing::expect_failure;
using testing::expect_step_failure;

TEST_CASE("correct schedules are proved under both aliasings") {
  for (const Schedule& schedule : testing::all_examples()) {
    CAPTURE(schedule.algorithm);
    CAPTURE(schedule.shape.member_count());
    for (const Aliasing aliasing : {Aliasing::distinct, Aliasing::in_place}) {
      const Verdict verdict = verify(schedule, aliasing);
      CHECK_MESSAGE(verdict.correct, verdict.failure);
      CHECK(verdict.failure.empty());
      CHECK(verdict.step_count == schedule.step_count());
    }
    CHECK(verify(schedule).correct);
  }
}

TEST_CASE("a failure names algorithm, shape, check, aliasing, worker, strand, step and reason") {
  EditableSchedule broken(testing::exchange_example());
  broken.remove(1, 1);
  const Verdict verdict = verify(broken.pack());
  CHECK_FALSE(verdict.correct);
  CHECK(verdict.failed_check == Check::messages);
  CHECK(verdict.failed_aliasing == Aliasing::distinct);
  CHECK(verdict.failure ==
        "allreduce 'exchange' on 2 nodes x 1 member, 1 lane, direct: check 'messages' (distinct "
        "buffers): worker 0 (node 0), strand 0, step 0 (recv): node 1 has no send on lane 0 with "
        "tag 0 for it");
}

TEST_CASE("rank order is recognised") {
  CHECK(verify(testing::central_example(4)).rank_ordered);
  CHECK(verify(testing::exchange_example()).rank_ordered);
  CHECK(verify(testing::chain_example(5)).rank_ordered);
  SUBCASE("operands in another order, alike everywhere") {
    EditableSchedule other(testing::exchange_example());
    std::swap(other.at(0, 2).sources[0], other.at(0, 2).sources[1]);
    std::swap(other.at(1, 2).sources[0], other.at(1, 2).sources[1]);
    const Verdict verdict = verify(other.pack());
    CHECK_MESSAGE(verdict.correct, verdict.failure);
    CHECK_FALSE(verdict.rank_ordered);
  }
  SUBCASE("one chunk of two") {
    EditableSchedule other(testing::chain_example(2));
    std::swap(other.at(1, 3).sources[0], other.at(1, 3).sources[1]);
    const Verdict verdict = verify(other.pack());
    CHECK_MESSAGE(verdict.correct, verdict.failure);
    CHECK_FALSE(verdict.rank_ordered);
  }
  SUBCASE("the MPI library's order is unknown, unless there is nothing to order") {
    CHECK_FALSE(verify(testing::native_example(3)).rank_ordered);
    CHECK(verify(testing::native_example(1)).rank_ordered);
  }
}

TEST_CASE("resources are measured") {
  const Verdict chain = verify(testing::chain_example(4));
  CHECK(chain.resources.message_count == 12);      // 3 links, 2 ways, 2 segments
  CHECK(chain.resources.node_message_count == 4);  // the inner nodes
  CHECK(chain.resources.node_sent_chunk_count == 4);
  CHECK(chain.resources.node_memory_chunk_count == 2);
  CHECK(chain.resources.node_memory_vectors == 1.0);
  const Verdict staged = verify(testing::staged_example(3));
  CHECK(staged.resources.message_count == 0);
  CHECK(staged.resources.node_memory_chunk_count == 3);
  CHECK(staged.resources.node_memory_vectors == 3.0);
  CHECK(staged.resources.strand_in_flight == 0);
  // A recv and a send before the reduce that depends on both.
  CHECK(verify(testing::exchange_example()).resources.strand_in_flight == 1 + 1);
  CHECK(verify(testing::native_example(2)).resources.strand_in_flight == 1);
}

TEST_SUITE("result") {
  const auto check = Check::result;
  const auto central = testing::central_example(3);

  TEST_CASE("every member occurs, and once") {
    const auto expect = [&](const std::function<void(EditableStep&)>& change,
                            const std::string& message) {
      expect_step_failure(central, 0, 2, change, check, message);
    };
    expect([](EditableStep& s) { s.sources.pop_back(); },
           "chunk 0 of the output of member 0 is (0 1), expected each of the 3 members once");
    expect([](EditableStep& s) { s.sources[2] = s.sources[1]; },
           "chunk 0 of the output of member 0 is ((0 1) 1), expected each of the 3 members once");
    expect([](EditableStep& s) { s.sources.push_back(s.sources[0]); },
           "chunk 0 of the output of member 0 is (((0 1) 2) 0), expected each of the 3 members "
           "once");
  }

  TEST_CASE("all members get the same tree") {
    expect_step_failure(
        testing::exchange_example(), 1, 2,
        [](EditableStep& s) { std::swap(s.sources[0], s.sources[1]); }, check,
        "chunk 0 of the output of member 1 is (1 0), but that of member 0 is (0 1)");
    const auto native = testing::native_example(2);
    expect_failure(
        native, [](EditableSchedule& s) { s.at(2, 3).sources = s.at(2, 1).destinations; }, check,
        "chunk 0 of the output of member 3 is (2 3), but that of member 0 is native((0 1), (2 3))");
  }

  TEST_CASE("every output is written") {
    // In place nobody notices that the output of the first member is not written, but that its
    // value is wrong.
    EditableSchedule broken(central);
    broken.at(0, 2).destinations.pop_back();
    const Verdict verdict = verify(broken.pack(), Aliasing::distinct);
    CHECK(verdict.failure.ends_with("chunk 0 of the output of member 2 is never written"));
    CHECK(verify(broken.pack(), Aliasing::in_place)
              .failure.ends_with("chunk 0 of the output of member 2 is 2, but that of member 0 is "
                                 "((0 1) 2)"));
  }

  TEST_CASE("what is read has been written") {
    EditableSchedule broken(testing::native_example(2));
    broken.remove(0, 1);
    CHECK(verify(broken.pack())
              .failure.ends_with("worker 0 (node 0), strand 0, step 1 (native): reads chunk 0 of "
                                 "scratch(0)#8, which nobody has written"));
  }

  TEST_CASE("values that double with every step do not take for ever") {
    ScheduleBuilder builder(Collective::allreduce, "doubling", Shape::uniform(1, 1, 1), 1);
    const Span output = span_of(builder.output(0), {0, 1});
    builder.copy(0, output, span_of(builder.input(0), {0, 1}));
    for (int i = 0; i < 100; ++i) builder.reduce(0, {output}, {output, output});
    const Verdict verdict = verify(std::move(builder).finish());
    CHECK(verdict.failed_check == check);
    CHECK(verdict.failure.size() < 1000);
  }
}

TEST_CASE("the verifier agrees with the reference on the examples") {
  for (const Schedule& schedule : testing::all_examples()) {
    for (const Aliasing aliasing : {Aliasing::distinct, Aliasing::in_place}) {
      CAPTURE(schedule.algorithm);
      CHECK_FALSE(testing::failed_check_by_reference(schedule, aliasing).has_value());
    }
  }
}

}  // namespace verifier_test
}  // namespace hycoll
