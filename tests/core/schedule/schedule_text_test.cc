#include "core/schedule/schedule_text.h"

#include <doctest/doctest.h>

#include <string>

#include "core/schedule/builder.h"
#include "tests/core/verifier/examples.h"

namespace hycoll {
namespace schedule_text_test {

TEST_CASE("shapes in one line") {
  CHECK(to_text(Shape::uniform(1, 1, 1)) == "1 node x 1 member, 1 lane, direct");
  CHECK(to_text(Shape::uniform(3, 2, 4, Visibility::staged)) ==
        "3 nodes x 2 members, 4 lanes, staged");
  CHECK(to_text(Shape::uniform(2, 3, 1).with_processes_of(2)) ==
        "2 nodes x 3 members, 1 lane, staged between 4 processes");
  CHECK(to_text(Shape({{1, 4}, {1, 4}}, 2)) == "2 nodes x 1 member and 4 workers, 2 lanes, direct");
  CHECK(to_text(Shape({{2, 2}, {1, 3}}, 2)) ==
        "2 nodes (members/workers 2/2, 1/3), 2 lanes, direct");
  CHECK(to_text(Shape({{2, 2}, {0, 1}}, 1)) ==
        "2 nodes (members/workers 2/2, 0/1), 1 lane, direct");
}

TEST_CASE("a listing shows every step of every strand of every worker") {
  CHECK(to_text(testing::exchange_example()) ==
        "allreduce 'exchange' on 2 nodes x 1 member, 1 lane, direct; 1 chunk\n"
        "node 0\n"
        "  worker 0, member 0, lane 0\n"
        "    strand 0\n"
        "         0  recv    [0, 1)  scratch(0)#4 <- node 1, lane 0, tag 0\n"
        "         1  send    [0, 1)  input(0) -> node 1, lane 0, tag 0\n"
        "         2  reduce  [0, 1)  output(0) <- input(0) op scratch(0)#4  (after 0, 1)\n"
        "node 1\n"
        "  worker 1, member 1, lane 0\n"
        "    strand 1\n"
        "         0  recv    [0, 1)  scratch(1)#5 <- node 0, lane 0, tag 0\n"
        "         1  send    [0, 1)  input(1) -> node 0, lane 0, tag 0\n"
        "         2  reduce  [0, 1)  output(1) <- scratch(1)#5 op input(1)  (after 0, 1)\n");
}

TEST_CASE("signals, waits, native calls, copies and lines") {
  const Schedule native = testing::native_example(2);
  CHECK(to_text(native, 1) ==
        "allreduce 'native' on 2 nodes x 2 members, 1 lane, direct; 1 chunk\n"
        "node 1\n"
        "  worker 2, member 2, lane 0\n"
        "    strand 2\n"
        "         0  wait    flag 2 >= 1\n"
        "         1  reduce  [0, 1)  scratch(2)#9 <- input(2) op input(3)\n"
        "         2  native  [0, 1)  output(2) <- all nodes' scratch(2)#9, lane 0, tag 0\n"
        "         3  copy    [0, 1)  output(3) <- output(2)  (after 2)\n"
        "         4  signal  flag 3 = 1\n"
        "  worker 3, member 3\n"
        "    strand 3\n"
        "         0  signal  flag 2 = 1\n"
        "         1  wait    flag 3 >= 1\n");
  const Schedule lines = testing::lines_example(2);
  CHECK(describe_step(lines, lines.strands[1].steps[0]) ==
        "copy    [0, 1)  lines(1)#5 <- input(1)");
  CHECK(describe_buffer(testing::staged_example(2), 5) == "staging(0)#5");
}

TEST_CASE("streams") {
  CHECK(to_text(testing::streams_example(2))
            .starts_with("allreduce 'streams' on 1 node x 2 members, 1 lane, direct; 2 chunks\n"
                         "node 0\n"
                         "  worker 0, member 0, lane 0\n"
                         "    strand 0\n"
                         "         0  signal  flag 0 = 1\n"
                         "         1  wait    flag 1 >= 1\n"
                         "         2  copy    [0, 1)  stream(0)#4 <- input(0)\n"
                         "         3  copy    [1, 2)  stream(0)#4 <- input(0)\n"
                         "         4  wait    flag 2 >= 1\n"
                         "         5  reduce  [0, 2)  output(0) <- input(0) op scratch(0)#6\n"
                         "    strand 2\n"
                         "         0  copy    [0, 1)  scratch(0)#6 <- stream(1)#5\n"
                         "         1  copy    [1, 2)  scratch(0)#6 <- stream(1)#5\n"
                         "         2  signal  flag 2 = 1\n"));
}

TEST_CASE("several destinations, strands and workers without a member") {
  ScheduleBuilder builder(Collective::allreduce, "mixed", Shape({{1, 2}, {1, 1}}, 3), 6);
  const StrandId strand = builder.add_strand(1);
  builder.copy(strand,
               std::vector{span_of(2, {2, 3}), span_of(builder.add_staging(0, {0, 6}), {2, 3})},
               span_of(0, {2, 3}));
  CHECK(to_text(std::move(builder).finish()) ==
        "allreduce 'mixed' on 2 nodes (members/workers 1/2, 1/1), 3 lanes, direct; 6 chunks\n"
        "node 0\n"
        "  worker 0, member 0, lane 0, lane 2\n"
        "    strand 0\n"
        "  worker 1, lane 1\n"
        "    strand 1\n"
        "    strand 3\n"
        "         0  copy    [2, 5)  output(0), staging(0)#4 <- input(0)\n"
        "node 1\n"
        "  worker 2, member 1, lane 0, lane 1, lane 2\n"
        "    strand 2\n");
}

TEST_CASE("a reduce names its root, and nodes without members are aggregators") {
  const Schedule reduce = testing::aggregator_example(Collective::reduce);
  CHECK(describe_call(reduce) == "reduce to member 1 'aggregator'");
  CHECK(describe_call(testing::blocks_example(2)) == "reduce_scatter 'blocks'");
  CHECK(to_text(reduce, 1).starts_with(
      "reduce to member 1 'aggregator' on 3 nodes (members/workers 2/2, 0/2, 1/1), 2 lanes, "
      "direct; 2 chunks\n"
      "node 1, aggregator\n"
      "  worker 2, lane 0\n"
      "    strand 2\n"
      "         0  recv    [0, 1)  staging(1)#7 <- node 0, lane 0, tag 0\n"));
  CHECK(to_text(reduce).find("node 2\n  worker 4, member 2, lane 0, lane 1\n") !=
        std::string::npos);
}

TEST_CASE("every role and visibility has a name") {
  CHECK(name_of(BufferRole::input) == "input");
  CHECK(name_of(BufferRole::output) == "output");
  CHECK(name_of(BufferRole::staging) == "staging");
  CHECK(name_of(BufferRole::scratch) == "scratch");
  CHECK(name_of(BufferRole::lines) == "lines");
  CHECK(name_of(BufferRole::stream) == "stream");
  CHECK(name_of(Visibility::direct) == "direct");
  CHECK(name_of(Visibility::staged) == "staged");
}

}  // namespace schedule_text_test
}  // namespace hycoll
