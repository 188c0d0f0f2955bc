// Numbers by rank: what they are, what they take, and how machines tell them.

#include "collectives/job/rank_map.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "tests/support/seed.h"

namespace hycoll {
namespace rank_map_test {

void check_map(const RankMap& map, const std::vector<int>& values) {
  REQUIRE(map.size() == static_cast<int>(values.size()));
  std::vector<int> of_stretches;
  int last = -1;
  map.for_each_stretch([&](const RankStretch& stretch) {
    CHECK(stretch.first_rank == static_cast<int>(of_stretches.size()));
    if (stretch.first_rank > 0) CHECK(stretch.value != last);
    last = stretch.value;
    of_stretches.insert(of_stretches.end(), static_cast<std::size_t>(stretch.count), last);
  });
  CHECK(of_stretches == values);
  for (int rank = 0; rank < map.size(); ++rank) {
    CHECK(map.at(rank) == values[static_cast<std::size_t>(rank)]);
  }
}

/// By way of the machines: every rank's number, which are those of `machines` too.
RankMap told_by(const std::vector<int>& machines, const std::vector<int>& values) {
  std::vector<std::vector<int>> descriptions;
  for (int machine = 0; machine < 8; ++machine) {
    std::vector<int> ranks;
    std::vector<int> here;
    for (std::size_t rank = 0; rank < values.size(); ++rank) {
      if (machines[rank] != machine) continue;
      ranks.push_back(static_cast<int>(rank));
      here.push_back(values[rank]);
    }
    if (!ranks.empty()) descriptions.push_back(describe_ranks(ranks, here));
  }
  return merge_descriptions(descriptions);
}

TEST_CASE("a map has the numbers that it was made from, and so does what machines tell") {
  std::mt19937_64 random(11 + tests::seed_offset());
  for (int trial = 0; trial < 400; ++trial) {
    CAPTURE(trial);
    const int different = std::uniform_int_distribution(1, 6)(random);
    const int width = std::uniform_int_distribution(1, 4)(random);
    const int size = std::uniform_int_distribution(1, 70)(random);
    std::vector<int> machines;
    std::vector<int> values;
    for (int i = 0; i < size; ++i) {
      const int irregular = std::uniform_int_distribution(0, different - 1)(random);
      machines.push_back(trial % 3 == 0 ? irregular : i / width % different);
      values.push_back(trial % 3 == 1 ? machines.back() : irregular * 5 - 7);
    }
    const RankMap map = RankMap::of(values);
    check_map(map, values);
    CHECK(RankMap::unpacked(map.packed()) == map);
    CHECK(told_by(machines, values) == map);
  }
}

RankMap regular(int repeats, int machines, int width) {
  RankMap::Builder builder;
  for (int i = 0; i < repeats * machines * width; ++i) builder.add(i / width % machines);
  return builder.build();
}

TEST_CASE("regular numbers take one run, whatever the number of ranks") {
  for (const int size : {1, 10, 10'240}) CHECK(RankMap::constant(size, 3).run_count() == 1);
  CHECK(regular(1, 80, 128).run_count() == 1);  // machine by machine
  CHECK(regular(128, 80, 1).run_count() == 1);  // dealt one by one
  CHECK(regular(16, 80, 8).run_count() == 1);   // dealt by eights
  CHECK(regular(128, 80, 1).packed().size() == 7);
}

TEST_CASE("other sizes of a few machines take a few runs") {
  RankMap::Builder builder;
  for (int machine = 0; machine < 80; ++machine) builder.add(machine, machine == 40 ? 64 : 128);
  CHECK(builder.build().run_count() == 3);
}

TEST_CASE("a machine tells of the ranks of each number in one run, if they are regular") {
  std::vector<int> ranks;
  std::vector<int> domains;
  for (int i = 0; i < 128; ++i) {
    ranks.push_back(7 + 80 * i);
    domains.push_back(i % 4);
  }
  CHECK(describe_ranks(ranks, domains).size() == 4 * 5);
  CHECK(describe_ranks(ranks, std::vector<int>(128, 2)).size() == 5);
}

TEST_CASE("what is asked of a map") {
  const RankMap map = RankMap::of(std::vector<int>{4, 4, 2, 2, 4, 4, 2, 2, 2});
  CHECK(map.distinct_count() == 2);
  CHECK(map.is_constant(0, 2));
  CHECK(map.is_constant(6, 9));
  CHECK_FALSE(map.is_constant(1, 3));
  CHECK_FALSE(map.is_constant(0, 5));
  CHECK_FALSE(map.is_constant(0, 9));
  CHECK(RankMap::constant(5, -1).distinct_count() == 1);
  CHECK(RankMap().size() == 0);
}

}  // namespace rank_map_test
}  // namespace hycoll
