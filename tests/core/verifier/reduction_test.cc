// What the verifier demands of each collective of the reduction family, and says of its trees.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/builder.h"
#include "core/verifier/verifier.h"
#include "tests/core/verifier/examples.h"
#include "tests/core/verifier/expectations.h"
#include "tests/core/verifier/mutants.h"

namespace hycoll {
namespace reduction_test {

using testing::aggregator_example;
using testing::blocks_example;
using testing::central_example;
using testing::chain_example;
using testing::chain_reduce_example;
using testing::chain_scan_example;
using testing::EditableSchedule;
using testing::EditableStep;
using testing::expect_failure;
using testing::expect_step_failure;

constexpr std::array kCollectives = {Collective::allreduce, Collective::reduce,
                                     Collective::reduce_scatter, Collective::scan,
                                     Collective::exscan};

TEST_SUITE("outputs") {
  const auto check = Check::structure;

  TEST_CASE("the root exists") {
    const Schedule reduce = chain_reduce_example(3, 2);
    for (const int root : {-1, 3}) {
      expect_failure(
          reduce, [&](EditableSchedule& s) { s.frame.root = root; }, check,
          "the root is member " + std::to_string(root) + " of 3");
    }
    expect_failure(
        chain_scan_example(Collective::scan, 2), [](EditableSchedule& s) { s.frame.root = 1; },
        check, "the root is member 1, but scan has none");
  }

  TEST_CASE("only the root of a reduce has an output") {
    expect_failure(
        chain_reduce_example(3, 2), [](EditableSchedule& s) { s.frame.root = 1; }, check,
        "buffer 4, the output of member 1, has 0 chunks from 0 on, expected 2 from 0 on");
    expect_failure(
        chain_reduce_example(3, 2),
        [](EditableSchedule& s) {
          s.frame.root = 1;
          std::swap(s.frame.buffers[4].chunk_count, s.frame.buffers[5].chunk_count);
        },
        check,
        "worker 2 (node 2), strand 2, step 1 (reduce): names 1 chunks from 0 on of buffer 5, which "
        "has 0 from 0 on");
  }

  TEST_CASE("exscan writes nothing to member 0") {
    expect_failure(
        chain_scan_example(Collective::exscan, 2),
        [](EditableSchedule& s) { s.frame.buffers[2].chunk_count = 2; }, check,
        "buffer 2, the output of member 0, has 2 chunks from 0 on, expected 0 from 0 on");
    expect_step_failure(
        central_example(Collective::exscan, 2), 0, 1,
        [](EditableStep& s) { s.destinations[0].buffer = 2; }, check,
        "worker 0 (node 0), strand 0, step 1 (reduce): names 2 chunks from 0 on of buffer 2, which "
        "has 0 from 0 on");
  }

  TEST_CASE("reduce_scatter has equal blocks, and writes to no other") {
    expect_failure(
        blocks_example(2),
        [](EditableSchedule& s) {
          s.frame.chunk_count = 3;
          for (int input : {0, 1}) s.frame.buffers[static_cast<std::size_t>(input)].chunk_count = 3;
        },
        check, "the partition has 3 chunks, which 2 members cannot share equally");
    expect_failure(
        blocks_example(3), [](EditableSchedule& s) { s.frame.buffers[4].first_chunk = 0; }, check,
        "buffer 4, the output of member 1, has 2 chunks from 0 on, expected 2 from 2 on");
    expect_step_failure(
        blocks_example(3), 1, 3, [](EditableStep& s) { s.destinations[0].first_chunk = 0; }, check,
        "worker 1 (node 0), strand 1, step 3 (reduce): names 2 chunks from 0 on of buffer 4, which "
        "has 2 from 2 on");
  }
}

TEST_SUITE("results") {
  const auto check = Check::result;

  TEST_CASE("reduce: every member once, at the root") {
    const Schedule reduce = central_example(Collective::reduce, 3, 1);
    expect_step_failure(
        reduce, 0, 2, [](EditableStep& s) { s.sources.pop_back(); }, check,
        "chunk 0 of the output of member 1 is (0 1), expected each of the 3 members once");
    expect_step_failure(
        reduce, 0, 2, [](EditableStep& s) { s.sources[2] = s.sources[0]; }, check,
        "chunk 0 of the output of member 1 is ((0 1) 0), expected each of the 3 members once");
    EditableSchedule unwritten(reduce);
    unwritten.remove(0, 2);
    CHECK(verify(unwritten.pack(), Aliasing::distinct)
              .failure.ends_with("chunk 0 of the output of member 1 is never written"));
    CHECK(verify(unwritten.pack(), Aliasing::in_place)
              .failure.ends_with(
                  "chunk 0 of the output of member 1 is 1, expected each of the 3 members once"));
  }

  TEST_CASE("reduce_scatter: every member once, in the member's block") {
    expect_step_failure(
        blocks_example(3), 1, 3, [](EditableStep& s) { s.sources.pop_back(); }, check,
        "chunk 2 of the output of member 1 is (0 1), expected each of the 3 members once");
    expect_step_failure(
        blocks_example(2), 1, 2,
        [](EditableStep& s) {
          for (Span& span : s.sources) span.chunk_count = 1;
          s.destinations[0].chunk_count = 1;
        },
        check,
        // In place the chunk that is left out would hold the input.
        "chunk 3 of the output of member 1 is never written");
  }

  TEST_CASE("scan: as many members as the rank says, and one more") {
    const Schedule scan = central_example(Collective::scan, 3);
    // Steps 2, 3 and 4 compute the outputs of members 2, 1 and 0.
    expect_step_failure(
        scan, 0, 3, [](EditableStep& s) { s.sources.pop_back(); }, check,
        "chunk 0 of the output of member 1 is 0, expected each of the members 0 to 1 once");
    expect_step_failure(
        scan, 0, 3,
        [](EditableStep& s) {
          s.sources.push_back({2, 0, 2});
        },
        check,
        "chunk 0 of the output of member 1 is ((0 1) 2), expected each of the members 0 to 1 once");
    expect_step_failure(
        scan, 0, 3, [](EditableStep& s) { s.sources[1].buffer = 2; }, check,
        "chunk 0 of the output of member 1 is (0 2), expected each of the members 0 to 1 once");
    expect_step_failure(
        scan, 0, 4, [](EditableStep& s) { s.sources[0].buffer = 1; }, check,
        "chunk 0 of the output of member 0 is 1, expected member 0 alone");
    expect_step_failure(
        scan, 0, 2, [](EditableStep& s) { s.sources[0] = s.sources[1]; }, check,
        "chunk 0 of the output of member 2 is ((1 1) 2), expected each of the 3 members once");
  }

  TEST_CASE("exscan: as many members as the rank says") {
    const Schedule exscan = central_example(Collective::exscan, 3);
    // Steps 2 and 3 compute the outputs of members 2 and 1.
    expect_step_failure(
        exscan, 0, 2,
        [](EditableStep& s) {
          s.sources.push_back({2, 0, 2});
        },
        check,
        "chunk 0 of the output of member 2 is ((0 1) 2), expected each of the members 0 to 1 once");
    expect_step_failure(
        exscan, 0, 2, [](EditableStep& s) { s.sources.pop_back(); }, check,
        "chunk 0 of the output of member 2 is 0, expected each of the members 0 to 1 once");
    expect_step_failure(
        exscan, 0, 3, [](EditableStep& s) { s.sources[0].buffer = 1; }, check,
        "chunk 0 of the output of member 1 is 1, expected member 0 alone");
  }

  TEST_CASE("two outputs in a row with the same value are both looked at") {
    // Member 2 gets what is right for member 1.
    expect_step_failure(
        chain_scan_example(Collective::scan, 3), 2, 1,
        [](EditableStep& s) { s.sources.pop_back(); }, check,
        "chunk 0 of the output of member 2 is (0 1), expected each of the 3 members once");
  }

  TEST_CASE("only an allreduce demands the same expression of all") {
    const auto exchange_sources = [](const Schedule& schedule, int strand, int step) {
      EditableSchedule exchanged(schedule);
      std::swap(exchanged.at(strand, step).sources[0], exchanged.at(strand, step).sources[1]);
      return verify(exchanged.pack());
    };
    const Verdict blocks = exchange_sources(blocks_example(2), 1, 2);
    CHECK_MESSAGE(blocks.correct, blocks.failure);
    CHECK_FALSE(blocks.rank_ordered);
    const Verdict scan = exchange_sources(chain_scan_example(Collective::scan, 2), 1, 1);
    CHECK_MESSAGE(scan.correct, scan.failure);
    CHECK_FALSE(scan.rank_ordered);
    CHECK_FALSE(exchange_sources(testing::exchange_example(), 1, 2).correct);
  }
}

TEST_SUITE("races") {
  TEST_CASE("in place an output is the same chunks of the input") {
    // Every member reduces what it needs from the inputs themselves.
    const auto build = [](Collective collective) {
      ScheduleBuilder builder(collective, "everybody", Shape::uniform(1, 2, 1), 2);
      const FlagId flags[] = {builder.add_flag(0), builder.add_flag(1)};
      for (const int member : {0, 1}) builder.signal(member, flags[member]);
      for (const int member : {0, 1}) {
        builder.wait(member, flags[1 - member], 1);
        const ChunkRange chunks = builder.output_chunks(member);
        std::vector<Span> inputs = {span_of(builder.input(0), chunks)};
        const bool reads_both = collective == Collective::reduce_scatter || member == 1;
        if (reads_both) inputs.push_back(span_of(builder.input(1), chunks));
        const Span output = span_of(builder.output(member), chunks);
        builder.reduce(member, std::span(&output, 1), inputs);
        builder.signal(member, flags[member]);
      }
      for (const int member : {0, 1}) builder.wait(member, flags[1 - member], 2);
      return std::move(builder).finish();
    };
    // Nobody reads what another one's block replaces.
    CHECK(verify(build(Collective::reduce_scatter)).correct);
    // Member 0 replaces its input, by itself, while member 1 may read it.
    const Schedule scan = build(Collective::scan);
    CHECK(verify(scan, Aliasing::distinct).correct);
    const Verdict in_place = verify(scan, Aliasing::in_place);
    CHECK(in_place.failed_check == Check::races);
    CAPTURE(in_place.failure);
    CHECK(in_place.failure.ends_with(
        "worker 0 (node 0), strand 0, step 2 (reduce): uses chunk 0 of output(0) while step 2 of "
        "strand 1 (a reduce) may still use it"));
  }

  TEST_CASE("callers use whole inputs, and of the outputs what is written") {
    // Worker 1 leaves before worker 0 has read its input or written its output.
    const auto expect_early_exit = [](const Schedule& schedule, const std::string& chunk) {
      EditableSchedule broken(schedule);
      broken.exchange_with_next(0, 1);
      const Verdict verdict = verify(broken.pack(), Aliasing::distinct);
      CHECK(verdict.failed_check == Check::races);
      CHECK(verdict.failure.ends_with("strand 0, step 2 (reduce): may still use " + chunk +
                                      " when worker 1, its owner, has left"));
    };
    expect_early_exit(central_example(Collective::reduce, 2, 0), "chunk 0 of input(1)");
    expect_early_exit(central_example(Collective::exscan, 2), "chunk 0 of output(1)");
  }

  TEST_CASE("nobody leaves before everybody has entered, not even who gets nothing") {
    for (const Collective collective : kCollectives) {
      if (collective == Collective::allreduce) continue;
      EditableSchedule broken(central_example(collective, 2));
      broken.strands[1].pop_back();  // the last step of worker 1 waits for worker 0
      const Verdict verdict = verify(broken.pack(), Aliasing::distinct);
      CAPTURE(verdict.failure);
      CHECK(verdict.failed_check == Check::races);
    }
    // The root's node is another one, and member 1 waits for member 2 but not vice versa.
    ScheduleBuilder builder(Collective::reduce, "alone", Shape({{1, 1}, {2, 2}}, 1), 1);
    const auto chunk = [](BufferId buffer) { return span_of(buffer, {0, 1}); };
    const Span received = chunk(builder.add_scratch(0, {0, 1}));
    const FlagId arrived = builder.add_flag(2);
    const Span sum = chunk(builder.add_scratch(1, {0, 1}));
    const Span staged = chunk(builder.add_staging(1, {0, 1}));
    builder.copy(2, staged, chunk(builder.input(2)));
    builder.signal(2, arrived);
    builder.wait(1, arrived);
    builder.reduce(1, {sum}, {chunk(builder.input(1)), staged});
    builder.send(1, 0, 0, sum);
    builder.recv(0, 0, 1, received);
    builder.reduce(0, {chunk(builder.output(0))}, {chunk(builder.input(0)), received});
    const Verdict verdict = verify(std::move(builder).finish());
    CHECK(verdict.failed_check == Check::races);
  }
}

TEST_SUITE("trees") {
  TEST_CASE("equal trees have equal digests, whatever computes them") {
    for (int members = 2; members <= 5; ++members) {
      CAPTURE(members);
      const auto digest = [](const Schedule& schedule) { return verify(schedule).tree_digest; };
      const auto scan = digest(central_example(Collective::scan, members));
      CHECK(scan != 0);
      CHECK(digest(chain_scan_example(Collective::scan, members)) == scan);
      const auto exscan = digest(central_example(Collective::exscan, members));
      CHECK(exscan != 0);
      CHECK(digest(chain_scan_example(Collective::exscan, members)) == exscan);
      const auto scatter = digest(central_example(Collective::reduce_scatter, members));
      CHECK(scatter != 0);
      CHECK(digest(blocks_example(members)) == scatter);
      const auto allreduce = digest(central_example(members));
      CHECK(allreduce != 0);
      CHECK(digest(testing::lines_example(members)) == allreduce);
      CHECK(digest(chain_example(members)) == allreduce);
      const auto reduce = digest(central_example(Collective::reduce, members, 0));
      CHECK(reduce != 0);
      for (int root = 0; root < members; ++root) {
        CHECK(digest(central_example(Collective::reduce, members, root)) == reduce);
      }
      CHECK(digest(chain_reduce_example(members, members - 1)) == reduce);
      if (members > 2) CHECK(digest(chain_reduce_example(members, 0)) != reduce);
    }
    CHECK(verify(aggregator_example(Collective::allreduce)).tree_digest ==
          verify(central_example(3)).tree_digest);
    CHECK(verify(aggregator_example(Collective::reduce)).tree_digest ==
          verify(central_example(Collective::reduce, 3, 0)).tree_digest);
  }

  TEST_CASE("different trees have different digests") {
    // All orders and parentheses of four operands: 5 shapes of 24 orders.
    std::set<std::uint64_t> digests;
    std::array order = {0, 1, 2, 3};
    do {
      for (int shape = 0; shape < 5; ++shape) {
        ScheduleBuilder builder(Collective::reduce, "tree", Shape::uniform(1, 4, 1), 1);
        const auto operand = [&](std::size_t i) { return span_of(order[i], {0, 1}); };
        const Span a = span_of(builder.add_scratch(0, {0, 1}), {0, 1});
        const Span b = span_of(builder.add_scratch(0, {0, 1}), {0, 1});
        const Span output = span_of(builder.output(0), {0, 1});
        const FlagId done = builder.add_flag(0);
        for (const int member : {1, 2, 3}) {
          const FlagId arrived = builder.add_flag(member);
          builder.signal(member, arrived);
          builder.wait(0, arrived);
        }
        switch (shape) {
          case 0:  // ((0 1) 2) 3
            builder.reduce(0, {output}, {operand(0), operand(1), operand(2), operand(3)});
            break;
          case 1:  // (0 (1 2)) 3
            builder.reduce(0, {a}, {operand(1), operand(2)});
            builder.reduce(0, {output}, {operand(0), a, operand(3)});
            break;
          case 2:  // 0 ((1 2) 3)
            builder.reduce(0, {a}, {operand(1), operand(2), operand(3)});
            builder.reduce(0, {output}, {operand(0), a});
            break;
          case 3:  // 0 (1 (2 3))
            builder.reduce(0, {a}, {operand(2), operand(3)});
            builder.reduce(0, {b}, {operand(1), a});
            builder.reduce(0, {output}, {operand(0), b});
            break;
          default:  // (0 1) (2 3)
            builder.reduce(0, {a}, {operand(0), operand(1)});
            builder.reduce(0, {b}, {operand(2), operand(3)});
            builder.reduce(0, {output}, {a, b});
        }
        builder.signal(0, done);
        for (const int member : {1, 2, 3}) builder.wait(member, done);
        const Verdict verdict = verify(std::move(builder).finish());
        REQUIRE_MESSAGE(verdict.correct, verdict.failure);
        CHECK(verdict.rank_ordered == std::is_sorted(order.begin(), order.end()));
        CHECK(verdict.tree_digest != 0);
        digests.insert(verdict.tree_digest);
      }
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(digests.size() == 5 * 24);
  }

  TEST_CASE("different chunks with different trees have none") {
    const auto swap_in_second_chunk = [](const Schedule& schedule, int strand, int step) {
      EditableSchedule changed(schedule);
      EditableStep& reduce = changed.at(strand, step);
      REQUIRE(reduce.step.kind == StepKind::reduce);
      std::swap(reduce.sources[0], reduce.sources[1]);
      return verify(changed.pack());
    };
    for (const Verdict& verdict : {
             swap_in_second_chunk(chain_example(2), 1, 3),
             swap_in_second_chunk(chain_reduce_example(2, 1), 1, 3),
             swap_in_second_chunk(chain_scan_example(Collective::scan, 2), 1, 3),
             // The trees of two members, each with one of its own, must be one all the same.
             swap_in_second_chunk(blocks_example(2), 1, 2),
         }) {
      CHECK_MESSAGE(verdict.correct, verdict.failure);
      CHECK_FALSE(verdict.rank_ordered);
      CHECK(verdict.tree_digest == 0);
    }
  }

  TEST_CASE("native calls have none") {
    CHECK(verify(testing::native_example(1)).tree_digest == 0);
    CHECK(verify(testing::native_example(3)).tree_digest == 0);
  }

  TEST_CASE("members without an output have the tree of nothing") {
    CHECK(verify(central_example(Collective::exscan, 1)).tree_digest != 0);
    CHECK(verify(central_example(Collective::exscan, 1)).rank_ordered);
  }

  TEST_CASE("what depends on the aliasing has none, and no rank order") {
    // Each output gets the other member's input, so that in place the inputs have changed places
    // when they are reduced.
    ScheduleBuilder builder(Collective::allreduce, "crossed", Shape::uniform(1, 2, 1), 1);
    const auto chunk = [](BufferId buffer) { return span_of(buffer, {0, 1}); };
    const Span inputs[] = {chunk(builder.input(0)), chunk(builder.input(1))};
    const Span outputs[] = {chunk(builder.output(0)), chunk(builder.output(1))};
    const Span copied = chunk(builder.add_scratch(0, {0, 1}));
    const FlagId arrived = builder.add_flag(1);
    const FlagId done = builder.add_flag(0);
    builder.signal(1, arrived);
    builder.wait(0, arrived);
    builder.copy(0, copied, inputs[0]);
    builder.copy(0, outputs[0], inputs[1]);
    builder.copy(0, outputs[1], copied);
    builder.reduce(0, outputs, inputs);
    builder.signal(0, done);
    builder.wait(1, done);
    const Schedule crossed = std::move(builder).finish();
    const Verdict distinct = verify(crossed, Aliasing::distinct);
    CHECK(distinct.rank_ordered);
    const Verdict in_place = verify(crossed, Aliasing::in_place);
    CHECK_MESSAGE(in_place.correct, in_place.failure);
    CHECK_FALSE(in_place.rank_ordered);
    CHECK(in_place.tree_digest != distinct.tree_digest);
    const Verdict both = verify(crossed);
    CHECK(both.correct);
    CHECK_FALSE(both.rank_ordered);
    CHECK(both.tree_digest == 0);
  }
}

}  // namespace reduction_test
}  // namespace hycoll
