#include <doctest/doctest.h>

#include <utility>

#include "core/schedule/builder.h"
#include "core/verifier/verifier.h"
#include "tests/core/verifier/examples.h"
#include "tests/core/verifier/expectations.h"
#include "tests/core/verifier/mutants.h"

namespace hycoll {
namespace messages_test {

using testing::EditableSchedule;
using testing::EditableStep;
using testing::expect_failure;
using testing::expect_step_failure;

TEST_SUITE("messages") {
  const auto check = Check::messages;
  const auto exchange = testing::exchange_example();
  const auto chain = testing::chain_example(3);

  TEST_CASE("each send has a recv and each recv has a send") {
    expect_failure(
        exchange, [](EditableSchedule& s) { s.remove(1, 0); }, check,
        "worker 0 (node 0), strand 0, step 1 (send): node 1 has no recv on lane 0 with tag 0 for "
        "it");
    expect_step_failure(
        exchange, 0, 0, [](EditableStep& s) { s.step.tag = 3; }, check,
        "worker 0 (node 0), strand 0, step 0 (recv): node 1 has no send on lane 0 with tag 3 for "
        "it");
    expect_step_failure(
        chain, 1, 3, [](EditableStep& s) { s.step.peer_node = 0; }, check,
        "worker 1 (node 1), strand 1, step 7 (send): uses tag 0 on lane 0 with node 0 again after "
        "step 3 of strand 1");
  }

  TEST_CASE("a tag is used once per lane and pair of nodes") {
    expect_step_failure(
        chain, 0, 1, [](EditableStep& s) { s.step.tag = 0; }, check,
        "worker 0 (node 0), strand 0, step 1 (send): uses tag 0 on lane 0 with node 1 again after "
        "step 0 of strand 0");
    expect_step_failure(
        chain, 0, 3, [](EditableStep& s) { s.step.tag = 0; }, check,
        "worker 0 (node 0), strand 0, step 3 (recv): uses tag 0 on lane 0 with node 1 again after "
        "step 2 of strand 0");
  }

  TEST_CASE("both sides have the same chunks") {
    expect_failure(
        chain, [](EditableSchedule& s) { std::swap(s.at(0, 0).step.tag, s.at(0, 1).step.tag); },
        check,
        "worker 1 (node 1), strand 1, step 0 (recv): has 1 chunks from 0 on, its partner (step 1 "
        "of strand 0) 1 from 1 on");
  }

  TEST_CASE("every node takes part in a native call once, with the same chunks") {
    const auto native = testing::native_example(3);
    expect_failure(
        native, [](EditableSchedule& s) { s.remove(2, 2); }, check,
        "worker 0 (node 0), strand 0, step 2 (native): node 1 has no native call on lane 0 with "
        "tag 0");
    expect_step_failure(
        native, 2, 2, [](EditableStep& s) { s.step.tag = 1; }, check,
        "worker 0 (node 0), strand 0, step 2 (native): node 1 has no native call on lane 0 with "
        "tag 0");
    expect_failure(
        native, [](EditableSchedule& s) { s.strands[2].push_back(s.at(2, 2)); }, check,
        "worker 2 (node 1), strand 2, step 5 (native): native calls on lane 0 must come from one "
        "strand in the order of their tags, this one has tag 0 after tag 0 of step 2 of strand 2");
    Schedule chunks = testing::native_example(2);
    chunks.chunk_count = 2;
    for (Buffer& buffer : chunks.buffers) buffer.chunk_count = 2;
    EditableSchedule shifted(chunks);
    for (Span* span : {&shifted.at(2, 2).destinations[0], &shifted.at(2, 2).sources[0]}) {
      span->first_chunk = 1;
    }
    CHECK(
        verify(shifted.pack())
            .failure.ends_with("worker 2 (node 1), strand 2, step 2 (native): has 1 chunks from 1 "
                               "on, its partner (step 2 of strand 0) 1 from 0 on"));
  }

  TEST_CASE("native calls of a lane come from one strand, for the MPI library orders them") {
    ScheduleBuilder builder(Collective::allreduce, "two", Shape::uniform(1, 1, 1), 2);
    const StrandId second = builder.add_strand(0);
    for (const StrandId strand : {0, second}) {
      const ChunkRange chunk{strand == 0 ? 0 : 1, 1};
      builder.native_allreduce(strand, 0, span_of(builder.output(0), chunk),
                               span_of(builder.input(0), chunk));
    }
    CHECK(verify(std::move(builder).finish())
              .failure.ends_with("strand 1, step 0 (native): native calls on lane 0 must come from "
                                 "one strand in the order of their tags, this one has tag 1 after "
                                 "tag 0 of step 0 of strand 0"));
  }
}

TEST_SUITE("deadlock") {
  const auto check = Check::deadlock;

  TEST_CASE("a send waits for its recv when something depends on it") {
    // Each node sends, waits until it is received, and only then receives: MPI_Send on both sides.
    EditableSchedule correct(testing::exchange_example());
    for (int node = 0; node < 2; ++node) correct.exchange_with_next(node, 0);
    expect_failure(
        correct.pack(),
        [](EditableSchedule& s) {
          for (int node = 0; node < 2; ++node) s.at(node, 1).dependencies = {0};
        },
        check,
        "worker 0 (node 0), strand 0, step 1 (recv): can never be issued: it waits for step 0 of "
        "strand 0 (a send), which was issued, but not its partner; strand 1 step 1: it waits for "
        "step 0 of strand 1 (a send), which was issued, but not its partner");
  }

  TEST_CASE("strands that wait for each other") {
    expect_failure(
        testing::central_example(2), [](EditableSchedule& s) { s.exchange_with_next(1, 0); }, check,
        "worker 0 (node 0), strand 0, step 0 (wait): can never be issued: it waits for step 1 of "
        "strand 1 (a signal); strand 1 step 0: it waits for step 2 of strand 0 (a signal)");
  }

  TEST_CASE("lines that nobody writes") {
    expect_failure(
        testing::lines_example(3), [](EditableSchedule& s) { s.remove(2, 0); }, check,
        "worker 0 (node 0), strand 0, step 1 (reduce): can never be issued: it reads lines that "
        "nobody writes; strand 1 step 1: it reads lines that nobody writes; strand 2 step 0: it "
        "reads lines that nobody writes");
  }

  TEST_CASE("lines that are written too late") {
    expect_failure(
        testing::lines_example(2), [](EditableSchedule& s) { s.exchange_with_next(0, 0); }, check,
        "worker 0 (node 0), strand 0, step 0 (reduce): can never be issued: it waits for step 1 of "
        "strand 0 (a copy); strand 1 step 1: it waits for step 1 of strand 0 (a copy)");
  }

  TEST_CASE("a native call that one node issues too late") {
    EditableSchedule broken(testing::native_example(2));
    // Node 1's first worker waits for its second one, which waits for it.
    broken.exchange_with_next(3, 0);
    const Verdict verdict = verify(broken.pack());
    CHECK(verdict.failed_check == check);
    CHECK(verdict.failure.find("strand 0, step 3 (copy): can never be issued: it waits for step 2 "
                               "of strand 0 (a native), which was issued, but not its partner") !=
          std::string::npos);
  }

  TEST_CASE("natives in another order on two nodes, where their workers block in them") {
    expect_failure(
        testing::natives_example(), [](EditableSchedule& s) { s.exchange_with_next(1, 0); }, check,
        "worker 0 (node 0), strand 0, step 1 (native): can never be issued: it waits for step 0 of "
        "strand 0 (a native), which was issued, but not its partner; strand 1 step 1: it waits for "
        "step 0 of strand 1 (a native), which was issued, but not its partner");
  }

  /// Node 0 sends chunk 1 behind its native call; node 1 receives it before its own. With
  /// `has_company` the workers have another strand, with a step.
  Schedule send_behind_native(bool has_company) {
    ScheduleBuilder builder(Collective::allreduce, "behind", Shape::uniform(2, 1, 1), 2);
    const auto chunk = [](BufferId buffer, int index) { return span_of(buffer, {index, 1}); };
    const BufferId received = builder.add_scratch(1, builder.all_chunks());
    builder.native_allreduce(0, 0, chunk(builder.output(0), 0), chunk(builder.input(0), 0));
    builder.send(0, 0, 1, chunk(builder.input(0), 1));
    builder.recv(1, 0, 0, chunk(received, 1));
    builder.reduce(1, {chunk(builder.output(1), 1)},
                   {chunk(received, 1), chunk(builder.input(1), 1)});
    builder.native_allreduce(1, 0, chunk(builder.output(1), 0), chunk(builder.input(1), 0));
    builder.send(1, 0, 0, chunk(builder.output(1), 1));
    builder.recv(0, 0, 1, chunk(builder.output(0), 1));
    if (has_company) {
      for (const int worker : {0, 1}) {
        const FlagId flag = builder.add_flag(worker);
        builder.signal(worker, flag);
        builder.wait(builder.add_strand(worker), flag);
      }
    }
    return std::move(builder).finish();
  }

  TEST_CASE("a send behind a native call in which its worker blocks") {
    const Verdict company = verify(send_behind_native(true));
    CHECK_MESSAGE(company.correct, company.failure);
    const Verdict alone = verify(send_behind_native(false));
    CHECK(alone.failed_check == check);
    CHECK(alone.failure.find("strand 0, step 1 (send): can never be issued: it waits for step 0 of "
                             "strand 0 (a native), which was issued, but not its partner") !=
          std::string::npos);
  }

  TEST_CASE("many blocked strands are counted") {
    EditableSchedule broken(testing::lines_example(12));
    broken.remove(11, 0);
    CHECK(verify(broken.pack()).failure.ends_with("; and 4 more strands"));
  }
}

}  // namespace messages_test
}  // namespace hycoll
