#include "core/drawing/line_transfers.h"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "collectives/algorithms/registry.h"

namespace hycoll {
namespace line_transfers_test {

/// Members that fill caches of 2, domains of 4 and packages of 8.
std::vector<WorkerPlace> places_of(int members) {
  std::vector<WorkerPlace> places;
  for (int member = 0; member < members; ++member) {
    places.push_back({.cache = member / 2, .domain = member / 4, .package = member / 8});
  }
  return places;
}

Shape grouped(int members) {
  return Shape::uniform(1, members, 1).with_groups(Groups::of_sizes(members, std::vector{2, 4, 8}));
}

LineTransfers count(Collective collective, std::string_view name, const Shape& shape,
                    std::size_t elements, const TransferTimes& times = kPublishedTimes) {
  const Schedule schedule = find_algorithm(collective, name).generate(shape);
  return count_line_transfers(schedule, Partition::balanced(elements, schedule.chunk_count), 8,
                              places_of(shape.node(0).members), times);
}

TEST_CASE("lines that all read, by distance") {
  const LineTransfers counted =
      count(Collective::allreduce, "lines-recursive-doubling", Shape::uniform(1, 16, 1), 1);
  CHECK(counted.count == 16 * 15);
  CHECK(counted.crossings == std::array<std::size_t, 3>{16 * 14, 16 * 12, 16 * 8});
  CHECK(counted.critical == 1);
  CHECK(counted.critical_crossings == std::array<std::size_t, 3>{1, 1, 1});
  CHECK(counted.bytes == std::array<std::size_t, 3>{2 * 14 * 64, 4 * 12 * 64, 8 * 8 * 64});
}

TEST_CASE("along the tree of the groups every line crosses what it must") {
  const LineTransfers counted =
      count(Collective::allreduce, "lines-tree-recursive-doubling", grouped(16), 1);
  CHECK(counted.count == 2 * 15);
  CHECK(counted.crossings == std::array<std::size_t, 3>{2 * 7, 2 * 3, 2});
  CHECK(counted.critical == 7);
  CHECK(counted.critical_crossings == std::array<std::size_t, 3>{5, 3, 1});
  CHECK(counted.bytes[2] == 64);
}

TEST_CASE("a flag is a line, a row of waits is read at once") {
  const LineTransfers flat = count(Collective::reduce, "lines-binomial", grouped(16), 1);
  CHECK(flat.count == 15 + 15 * 15);
  CHECK(flat.critical == 1);
  const LineTransfers tree = count(Collective::reduce, "lines-tree-binomial", grouped(16), 1);
  CHECK(tree.count == 2 * 15);
  CHECK(tree.critical == 8);
  CHECK(tree.critical_crossings[2] == 2);
  const LineTransfers broadcast =
      count(Collective::broadcast, "lines-tree-binomial", grouped(16), 1);
  CHECK(broadcast.count == 2 * 15);
  CHECK(broadcast.critical == 8);
}

TEST_CASE("longer vectors take more lines, which follow by gaps") {
  const TransferTimes times{.latency = {100, 100, 100, 100, 100}, .gap = {1, 1, 1, 1, 1}};
  const Shape two = Shape::uniform(1, 2, 1);
  const LineTransfers one_line =
      count(Collective::allreduce, "lines-recursive-doubling", two, 7, times);
  CHECK(one_line.count == 2);
  CHECK(one_line.nanoseconds == 100);
  const LineTransfers three_lines =
      count(Collective::allreduce, "lines-recursive-doubling", two, 15, times);
  CHECK(three_lines.count == 6);
  CHECK(three_lines.nanoseconds == 102);
  const LineTransfers four_readers =
      count(Collective::allreduce, "lines-recursive-doubling", Shape::uniform(1, 4, 1), 1, times);
  CHECK(four_readers.nanoseconds == 102);
}

TEST_CASE("buffers of members are their owners', whoever reads and writes them") {
  const LineTransfers counted =
      count(Collective::allreduce, "dpml-recursive-doubling", Shape::uniform(1, 16, 16), 16 * 1024);
  // Every leader reads a 16th of 15 inputs and writes it to 15 outputs.
  constexpr std::size_t kPart = 8 * 1024;
  constexpr std::size_t kSignals = 2 * 64;  // before and after
  CHECK(counted.bytes[2] == 8 * 8 * (2 * kPart + kSignals));
  CHECK(counted.crossings[2] >= 2 * 16 * 8 * kPart / 64);
}

TEST_CASE("what a worker has of a line it need not get again") {
  // Eight blocks of 8 bytes are a line: of 16 members a leader for each receiver reads two lines of
  // every other one's input, of which it needs one; pieces of four senders and receivers are a line
  // of each.
  const Shape shape = Shape::uniform(1, 16, 16);
  const LineTransfers rows = count(Collective::alltoall, "onmpml", shape, 16 * 16);
  CHECK(rows.count == 16 * 15 + 2 * 16 * 15);
  const LineTransfers squares = count(Collective::alltoall, "sh-numa-co", shape, 16 * 16);
  CHECK(squares.count < rows.count / 2);
  CHECK(squares.crossings[2] < rows.crossings[2] / 2);
  // Long blocks are read once where receivers copy, and some twice in squares.
  const LineTransfers long_rows = count(Collective::alltoall, "onmpml", shape, 16 * 16 * 64);
  const LineTransfers long_squares = count(Collective::alltoall, "sh-numa-co", shape, 16 * 16 * 64);
  CHECK(long_rows.count == 8 * 16 * 15 + 2 * 16 * 15);
  CHECK(long_squares.count > long_rows.count);
}

TEST_CASE("nodes have a machine each, and messages cost nothing") {
  const Shape shape = Shape::uniform(3, 4, 1).with_groups(Groups::of_sizes(4, std::vector{2}));
  const LineTransfers counted =
      count(Collective::allreduce, "lines-tree-recursive-doubling", shape, 1);
  CHECK(counted.count == 3 * 2 * 3);
  CHECK(counted.critical == 4);
  CHECK(counted.crossings[2] == 0);
}

}  // namespace line_transfers_test
}  // namespace hycoll
