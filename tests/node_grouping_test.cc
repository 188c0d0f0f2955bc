// Which processes form a node: machines whose ranks follow each other, or not; emulated ones.

#include "collectives/node_grouping.h"

#include <doctest/doctest.h>

#include <vector>

namespace hycoll {
namespace {

std::vector<int> grouped(const std::vector<int>& machines, int emulated_nodes = 0) {
  return group_processes(machines, emulated_nodes).first_rank;
}

TEST_CASE("the processes of a machine are a node, however many there are") {
  CHECK(grouped({4}) == std::vector<int>{0, 1});
  CHECK(grouped({0, 0, 0, 3, 3, 5}) == std::vector<int>{0, 3, 5, 6});
}

TEST_CASE("a machine whose ranks do not follow each other is several nodes") {
  CHECK(grouped({0, 1, 0, 1}) == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(grouped({7, 7, 2, 2, 7}) == std::vector<int>{0, 2, 4, 5});
}

TEST_CASE("emulated nodes share a machine's processes evenly") {
  CHECK(grouped({0, 0, 0, 0, 0}, 1) == std::vector<int>{0, 5});
  CHECK(grouped({0, 0, 0, 0, 0}, 2) == std::vector<int>{0, 3, 5});
  CHECK(grouped({0, 0, 0, 0, 0}, 3) == std::vector<int>{0, 2, 4, 5});
  CHECK(grouped({0, 0}, 5) == std::vector<int>{0, 1, 2});
  CHECK(grouped({0, 0, 2, 2, 2, 2}, 2) == std::vector<int>{0, 1, 2, 4, 6});
}

TEST_CASE("every rank is on the node that begins last before it") {
  const NodeGrouping grouping = group_processes(std::vector<int>{0, 0, 2, 3, 3, 3}, 0);
  CHECK(grouping.node_count() == 3);
  const std::vector<int> nodes = {0, 0, 1, 2, 2, 2};
  for (int rank = 0; rank < 6; ++rank) {
    CHECK(grouping.node_of(rank) == nodes[static_cast<std::size_t>(rank)]);
  }
  CHECK(grouping.size_of(0) == 2);
  CHECK(grouping.size_of(1) == 1);
  CHECK(grouping.size_of(2) == 3);
}

TEST_CASE("threads are numbered process by process") {
  const ThreadNumbering threads(std::vector<int>{2, 1, 3});
  CHECK(threads.count() == 6);
  CHECK(threads.processes() == std::vector<int>{0, 0, 1, 2, 2, 2});
  CHECK(threads.first_of(2) == 3);
  CHECK(threads.count_of(0) == 2);
  CHECK(threads.count_of(2) == 3);
  CHECK_FALSE(threads.is_one_each());
  CHECK(ThreadNumbering(std::vector<int>{1, 1, 1}).is_one_each());
}

}  // namespace
}  // namespace hycoll
