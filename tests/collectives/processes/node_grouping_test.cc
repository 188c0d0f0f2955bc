// Which processes form a node: machines whose ranks follow each other, or not; emulated ones.

#include "collectives/job/node_grouping.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tests/support/seed.h"

namespace hycoll {
namespace node_grouping_test {

std::vector<int> values_of(const RankMap& map) {
  std::vector<int> values;
  for (int rank = 0; rank < map.size(); ++rank) values.push_back(map.at(rank));
  return values;
}

std::vector<int> places(const std::vector<int>& machines, int emulated_nodes = 0,
                        Dealing dealing = Dealing::blocks) {
  return values_of(node_places(RankMap::of(machines), {}, emulated_nodes, dealing));
}

std::vector<int> first_ranks(const NodeGrouping& grouping) {
  std::vector<int> ranks;
  for (int node = 0; node < grouping.node_count(); ++node) {
    ranks.push_back(grouping.first_rank_of(node));
  }
  ranks.push_back(grouping.process_count());
  return ranks;
}

std::vector<int> grouped(const std::vector<int>& machines, int emulated_nodes = 0) {
  return first_ranks(
      group_processes(node_places(RankMap::of(machines), {}, emulated_nodes, Dealing::blocks)));
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
  const RankMap machines = RankMap::of(std::vector<int>{0, 0, 0, 0, 4, 4});
  const RankMap domains = RankMap::of(std::vector<int>{0, 1, 0, 1, 0, -1});
  CHECK(values_of(node_places(machines, domains, 0, Dealing::blocks)) ==
        std::vector<int>{0, 1, 0, 1, 2, 3});
  CHECK(values_of(node_places(machines, RankMap::constant(6, 3), 2, Dealing::blocks)) ==
        std::vector<int>{0, 0, 1, 1, 2, 3});
}

std::vector<int> by_place(const std::vector<int>& places) {
  const RankOrder order = RankOrder::by_place(RankMap::of(places));
  if (order.is_own()) return {};
  std::vector<int> ranks;
  for (int number = 0; number < static_cast<int>(places.size()); ++number) {
    ranks.push_back(order.rank_of(number));
    CHECK(order.number_of(ranks.back()) == number);
  }
  return ranks;
}

TEST_CASE("ranks by place, only if their own order has more nodes") {
  CHECK(by_place({0}).empty());
  CHECK(by_place({0, 0, 1, 1, 2}).empty());
  CHECK(by_place({0, 1, 0, 1, 0}) == std::vector<int>{0, 2, 4, 1, 3});
  CHECK(by_place({0, 0, 1, 1, 0}) == std::vector<int>{0, 1, 4, 2, 3});
}

TEST_CASE("ranks by place are what sorting by place gives, however places are dealt") {
  std::mt19937_64 random(11 + tests::seed_offset());
  for (int trial = 0; trial < 300; ++trial) {
    const int place_count = std::uniform_int_distribution(1, 5)(random);
    const int width = std::uniform_int_distribution(1, 3)(random);
    std::vector<int> machines;
    for (int i = 0; i < 60; ++i) {
      const int irregular = std::uniform_int_distribution(0, place_count - 1)(random);
      machines.push_back(trial % 2 == 0 ? i / width % place_count : irregular);
    }
    const std::vector<int> its_places = places(machines);
    std::vector<int> sorted(its_places.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::ranges::stable_sort(sorted, {},
                             [&](int rank) { return its_places[static_cast<std::size_t>(rank)]; });
    const std::vector<int> ranks = by_place(its_places);
    CHECK(ranks == (std::ranges::is_sorted(sorted) ? std::vector<int>{} : sorted));
  }
}

TEST_CASE("every rank is on the node that begins last before it") {
  const NodeGrouping grouping = group_processes(RankMap::of(std::vector<int>{0, 0, 2, 3, 3, 3}));
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
  CHECK(threads.process_count() == 3);
  CHECK(threads.processes() == Processes(std::vector<int>{0, 0, 1, 2, 2, 2}));
  CHECK(threads.first_of(2) == 3);
  CHECK(threads.first_of(3) == 6);
  CHECK(threads.count_of(0) == 2);
  CHECK(threads.count_of(2) == 3);
  CHECK_FALSE(threads.is_one_each());
  CHECK(ThreadNumbering(std::vector<int>{1, 1, 1}).is_one_each());
  CHECK(ThreadNumbering::one_each(3).is_one_each());
}

TEST_CASE("the nodes are those of the processes, in as few runs as there can be") {
  const auto runs = [](const std::vector<int>& places, const std::vector<int>& threads) {
    return node_runs(group_processes(RankMap::of(places)), ThreadNumbering(threads));
  };
  const auto run = [](int workers, int count) {
    return EqualNodes{.node = {.members = workers, .workers = workers}, .count = count};
  };
  CHECK(runs({0, 0, 1, 1}, {1, 1, 1, 1}) == std::vector{run(2, 2)});
  CHECK(runs({0, 0, 1}, {1, 1, 2}) == std::vector{run(2, 2)});
  CHECK(runs({0, 0, 1, 1, 2}, {1, 2, 2, 1, 1}) == std::vector{run(3, 2), run(1, 1)});
  CHECK(runs({0, 1, 0, 1}, {1, 1, 1, 1}) == std::vector{run(1, 4)});
}

}  // namespace node_grouping_test
}  // namespace hycoll
