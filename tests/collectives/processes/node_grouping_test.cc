// Which processes form a node: machines whose ranks follow each other, or not; emulated ones.

#include "collectives/processes/node_grouping.h"

#include <doctest/doctest.h>

#include <vector>

namespace hycoll {
namespace {

std::vector<int> places(const std::vector<int>& machines, int emulated_nodes = 0,
                        Dealing dealing = Dealing::blocks) {
  return node_places(machines, {}, emulated_nodes, dealing);
}

std::vector<int> grouped(const std::vector<int>& machines, int emulated_nodes = 0) {
  return group_processes(places(machines, emulated_nodes)).first_rank;
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

TEST_CASE("emulated nodes get a machine's processes in turn") {
  CHECK(places({0, 0, 0, 0, 0}, 2, Dealing::cyclic) == std::vector<int>{0, 1, 0, 1, 0});
  CHECK(places({0, 0, 0, 0, 0}, 3, Dealing::cyclic) == std::vector<int>{0, 1, 2, 0, 1});
  CHECK(places({0, 0, 2, 2, 2, 0}, 2, Dealing::cyclic) == std::vector<int>{0, 1, 2, 3, 2, 0});
  CHECK(places({0, 0, 0}, 1, Dealing::cyclic) == std::vector<int>{0, 0, 0});
  CHECK(places({0, 0}, 5, Dealing::cyclic) == std::vector<int>{0, 1});
}

TEST_CASE("the processes of a NUMA domain are a place, on each machine") {
  const std::vector<int> machines = {0, 0, 0, 0, 4, 4};
  const std::vector<int> domains = {0, 1, 0, 1, 0, -1};
  CHECK(node_places(machines, domains, 0, Dealing::blocks) == std::vector<int>{0, 1, 0, 1, 4, 5});
  const std::vector<int> one_domain(6, 3);
  CHECK(node_places(machines, one_domain, 2, Dealing::blocks) ==
        std::vector<int>{0, 0, 2, 2, 4, 5});
}

TEST_CASE("ranks by place, only if their own order has more nodes") {
  CHECK(ranks_by_place(std::vector<int>{0}).empty());
  CHECK(ranks_by_place(std::vector<int>{0, 0, 2, 2, 4}).empty());
  CHECK(ranks_by_place(std::vector<int>{0, 1, 0, 1, 0}) == std::vector<int>{0, 2, 4, 1, 3});
  CHECK(ranks_by_place(std::vector<int>{0, 0, 2, 2, 0}) == std::vector<int>{0, 1, 4, 2, 3});
}

TEST_CASE("every rank is on the node that begins last before it") {
  const NodeGrouping grouping = group_processes(std::vector<int>{0, 0, 2, 3, 3, 3});
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
