#include "core/schedule/groups.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/schedule/shape.h"

namespace hycoll {
namespace groups_test {

std::string error_of(const std::vector<GroupLevel>& levels) {
  try {
    const Groups groups(levels);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

using Ranges = std::vector<NumberRange>;

TEST_CASE("equal groups are one run on each level") {
  const Groups groups = Groups::of_sizes(128, std::vector{4, 16, 64});
  CHECK(to_text(groups) == "4x32, 16x8, 64x2");
  CHECK(groups.worker_count() == 128);
  CHECK(groups == Groups({{{4, 32}}, {{16, 8}}, {{64, 2}}}));
}

TEST_CASE("the last group has what is left") {
  const Groups groups = Groups::of_sizes(11, std::vector{2, 4});
  CHECK(to_text(groups) == "2x5+1x1, 4x2+3x1");
  CHECK(groups.within(0, {0, 11}) == Ranges{{0, 2}, {2, 2}, {4, 2}, {6, 2}, {8, 2}, {10, 1}});
  CHECK(groups.within(1, {0, 11}) == Ranges{{0, 4}, {4, 4}, {8, 3}});
}

TEST_CASE("levels that tell nothing are left out") {
  CHECK(Groups().is_flat());
  CHECK(Groups({{{1, 5}}}).is_flat());
  CHECK(Groups({{{5, 1}}}).is_flat());
  CHECK(Groups({{{1, 2}, {1, 3}}, {{5, 1}}}) == Groups());
  CHECK(to_text(Groups({{{2, 1}, {2, 1}}, {{2, 2}}, {{4, 1}}})) == "2x2");
  CHECK(to_text(Groups()) == "flat");
  CHECK(Groups::of_sizes(3, std::vector{4, 8}).is_flat());
}

TEST_CASE("groups in a range are cut by it") {
  const Groups groups({{{3, 2}, {1, 1}, {2, 2}}, {{6, 1}, {5, 1}}});
  CHECK(groups.within(0, {3, 5}) == Ranges{{3, 3}, {6, 1}, {7, 1}});
  CHECK(groups.within(1, {6, 5}) == Ranges{{6, 5}});
  CHECK(groups.within(0, {4, 0}).empty());
  CHECK(groups.of_first(8) == Groups({{{3, 2}, {1, 2}}, {{6, 1}, {2, 1}}}));
  CHECK(groups.of_first(3).is_flat());
}

TEST_CASE("what is wrong with groups is named") {
  CHECK(error_of({{{0, 2}}}) == "groups: 2 groups of 0 workers; both have to be at least 1");
  CHECK(error_of({{{2, 0}}}) == "groups: 0 groups of 2 workers; both have to be at least 1");
  CHECK(error_of({{{2, 2}}, {{3, 1}}}) ==
        "groups: a level has 3 workers, the one inside 4; give all levels the same workers");
  CHECK(error_of({{{2, 3}}, {{3, 2}}}) ==
        "groups: a group ends behind worker 2, where no group inside it ends; groups consist of "
        "whole inner ones");
  CHECK(error_of({{{1 << 30, 4}}}) == "groups: more workers than an int counts");
  CHECK_THROWS_AS(Groups::of_sizes(8, std::vector{4, 6}), Error);
  CHECK_THROWS_AS(Groups::of_sizes(0, std::vector{4}), Error);
  CHECK_THROWS_AS(Groups::of_sizes(8, std::vector{0}), Error);
}

TEST_CASE("a shape keeps groups with leaders, visibility and processes, and leaders with groups") {
  const Groups pairs({{{2, 2}}});
  const Shape shape = Shape::uniform(3, 4, 2).with_groups(pairs);
  CHECK(shape.groups(0) == pairs);
  CHECK(shape.groups(2) == pairs);
  CHECK(shape != Shape::uniform(3, 4, 2));
  CHECK(shape.with_groups(Groups()) == Shape::uniform(3, 4, 2));
  CHECK(shape.with_visibility(Visibility::staged).groups(1) == pairs);
  CHECK(shape.with_processes_of(2).groups(1) == pairs);
  const Shape led = shape.with_leaders({{3, 1}, {3, 1}, {0, 1}});
  CHECK(led.groups(1) == pairs);
  CHECK(led.leader(1, 0) == 7);
  const Groups singles({{{3, 1}, {1, 1}}});
  const std::vector<EqualGroupings> by_node = {{.groups = pairs, .count = 1},
                                               {.groups = singles, .count = 2}};
  const Shape grouped = led.with_groups(by_node);
  CHECK(grouped.groups(0) == pairs);
  CHECK(grouped.groups(2) == singles);
  CHECK(grouped.leader(1, 0) == 7);
  CHECK(grouped.first_nodes() == std::vector{0, 1, 2});
  CHECK(grouped.node_runs().size() == 1);
}

TEST_CASE("groups of a shape are those of all workers of all nodes") {
  const Shape shape({{4, 4}, {2, 2}}, 1);
  CHECK_THROWS_WITH_AS(shape.with_groups(Groups({{{2, 2}}})),
                       "shape: node 1 has 2 workers, its groups 4; group all of them, or none",
                       Error);
  const std::vector<EqualGroupings> one = {{.groups = Groups({{{2, 2}}}), .count = 1}};
  CHECK_THROWS_WITH_AS(shape.with_groups(one),
                       "shape: groups are given for 1 nodes of 2; give them for each", Error);
}

}  // namespace groups_test
}  // namespace hycoll
