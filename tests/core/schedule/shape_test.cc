#include "core/schedule/shape.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/base/errors.h"

namespace hycoll {
namespace {

std::string error_of(std::vector<Node> nodes, int lane_count, std::vector<int> lane_workers = {}) {
  try {
    const Shape shape(std::move(nodes), lane_count, Visibility::direct, std::move(lane_workers));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::invalid_argument);
    return error.what();
  }
  return "no error";
}

/// Unequal nodes, the further workers of some included.
std::vector<Node> unequal_nodes(int node_count) {
  std::vector<Node> nodes;
  for (int n = 0; n < node_count; ++n) {
    const int members = 1 + (5 * n + 2) % 4;
    nodes.push_back({.members = members, .workers = members + n % 3});
  }
  return nodes;
}

TEST_CASE("members and workers are numbered node by node") {
  for (int node_count = 1; node_count <= 9; ++node_count) {
    CAPTURE(node_count);
    const std::vector<Node> nodes = unequal_nodes(node_count);
    const Shape shape(nodes, 3);
    int member = 0;
    int worker = 0;
    for (int n = 0; n < node_count; ++n) {
      CHECK(shape.node(n) == nodes[static_cast<std::size_t>(n)]);
      CHECK(shape.first_member(n) == member);
      CHECK(shape.first_worker(n) == worker);
      for (int i = 0; i < shape.node(n).members; ++i, ++member) {
        CHECK(shape.node_of_member(member) == n);
        CHECK(shape.worker_of_member(member) == worker + i);
      }
      for (int i = 0; i < shape.node(n).workers; ++i, ++worker) {
        CHECK(shape.node_of_worker(worker) == n);
      }
    }
    CHECK(shape.node_count() == node_count);
    CHECK(shape.member_count() == member);
    CHECK(shape.worker_count() == worker);
  }
}

TEST_CASE("nodes without members are aggregators, anywhere among the nodes") {
  CHECK_FALSE(Shape(unequal_nodes(5), 2).has_aggregators());
  for (unsigned aggregators = 1; aggregators < 31; ++aggregators) {
    CAPTURE(aggregators);
    std::vector<Node> nodes = unequal_nodes(5);
    for (unsigned n = 0; n < 5; ++n) {
      if ((aggregators >> n & 1U) != 0) nodes[n].members = 0;
    }
    const Shape shape(nodes, 3);
    CHECK(shape.has_aggregators());
    int member = 0;
    int worker = 0;
    for (int n = 0; n < 5; ++n) {
      CHECK(shape.first_member(n) == member);
      CHECK(shape.first_worker(n) == worker);
      for (int i = 0; i < nodes[static_cast<std::size_t>(n)].members; ++i, ++member) {
        CHECK(shape.node_of_member(member) == n);
        CHECK(shape.worker_of_member(member) == worker + i);
      }
      for (int lane = 0; lane < 3; ++lane) CHECK(shape.node_of_worker(shape.leader(n, lane)) == n);
      for (int i = 0; i < shape.node(n).workers; ++i, ++worker) {
        CHECK(shape.node_of_worker(worker) == n);
      }
    }
    CHECK(shape.member_count() == member);
    CHECK(shape.worker_count() == worker);
  }
}

TEST_CASE("uniform: every worker of every node is a member") {
  for (int nodes = 1; nodes <= 5; ++nodes) {
    for (int members = 1; members <= 4; ++members) {
      const Shape shape = Shape::uniform(nodes, members, 2, Visibility::staged);
      CHECK(shape == Shape(std::vector<Node>(static_cast<std::size_t>(nodes), {members, members}),
                           2, Visibility::staged));
      CHECK(shape.visibility() == Visibility::staged);
      CHECK(shape.member_count() == nodes * members);
      CHECK(shape.worker_count() == nodes * members);
    }
  }
}

TEST_CASE("every lane has a leader on every node, and lanes spread over the workers") {
  for (int lanes = 1; lanes <= 12; ++lanes) {
    const Shape shape(unequal_nodes(6), lanes);
    CHECK(shape.lane_count() == lanes);
    for (int node = 0; node < shape.node_count(); ++node) {
      std::vector<int> driven(static_cast<std::size_t>(shape.node(node).workers), 0);
      for (int lane = 0; lane < lanes; ++lane) {
        const int leader = shape.leader(node, lane);
        CHECK(shape.node_of_worker(leader) == node);
        ++driven[static_cast<std::size_t>(leader - shape.first_worker(node))];
      }
      for (const int count : driven) {
        CHECK(count >= lanes / shape.node(node).workers);
        CHECK(count <= lanes / shape.node(node).workers + 1);
      }
    }
  }
}

TEST_CASE("lane_workers names the leaders, modulo the node's workers") {
  const Shape shape({{2, 4}, {3, 3}, {1, 1}}, 3, Visibility::direct, {2, 0, 7});
  CHECK(shape.leader(0, 0) == 2);
  CHECK(shape.leader(0, 1) == 0);
  CHECK(shape.leader(0, 2) == 3);
  CHECK(shape.leader(1, 0) == 4 + 2);
  CHECK(shape.leader(1, 1) == 4 + 0);
  CHECK(shape.leader(1, 2) == 4 + 1);
  for (int lane = 0; lane < 3; ++lane) CHECK(shape.leader(2, lane) == 7);
}

TEST_CASE("every node may have leaders of its own") {
  const Shape shape({{2, 4}, {3, 3}, {0, 1}}, 2);
  const Shape led = shape.with_leaders({{3, 0}, {1, 2}, {0, 0}});
  CHECK(led.leader(0, 0) == 3);
  CHECK(led.leader(0, 1) == 0);
  CHECK(led.leader(1, 0) == 4 + 1);
  CHECK(led.leader(1, 1) == 4 + 2);
  CHECK(led.leader(2, 1) == 7);
  CHECK_FALSE(led == shape);
  CHECK(led.with_visibility(Visibility::staged).leader(0, 0) == 3);
  CHECK_THROWS_WITH_AS(shape.with_leaders({{0, 1}}),
                       "shape: leaders are given for 1 nodes of 3; give them for each", Error);
  CHECK_THROWS_WITH_AS(shape.with_leaders({{0, 1}, {0}, {0, 0}}),
                       "shape: node 1 has 1 leaders for 2 lanes; give one per lane", Error);
  CHECK_THROWS_WITH_AS(shape.with_leaders({{0, 1}, {0, 3}, {0, 0}}),
                       "shape: worker 3 of node 1 is to lead, which has 3 workers", Error);
}

TEST_CASE("a worker reaches the members of its node, or, staged, those of its process") {
  const Shape direct({{2, 4}, {3, 3}}, 1);
  const Shape pairs = direct.with_processes_of(2);
  CHECK(pairs.visibility() == Visibility::staged);
  CHECK(pairs.processes() == std::vector<int>{0, 0, 1, 1, 2, 2, 3});
  const Shape alone = direct.with_visibility(Visibility::staged);
  const Shape mixed = direct.with_processes({5, 0, 5, 0, 7, 2, 7});
  for (int worker = 0; worker < direct.worker_count(); ++worker) {
    CHECK(alone.process(worker) == worker);
    for (int member = 0; member < direct.member_count(); ++member) {
      const int owner = direct.worker_of_member(member);
      CHECK(direct.reaches(worker, member) == ((worker < 4) == (owner < 4)));
      CHECK(alone.reaches(worker, member) == (worker == owner));
      CHECK(pairs.reaches(worker, member) == (pairs.process(worker) == pairs.process(owner)));
      CHECK(mixed.reaches(worker, member) == (mixed.process(worker) == mixed.process(owner)));
    }
  }
  CHECK_FALSE(mixed.reaches(0, 1));
  CHECK(mixed.reaches(2, 0));
  CHECK(mixed.with_visibility(Visibility::direct).reaches(0, 1));
}

TEST_CASE("what is wrong with processes is named") {
  const Shape shape({{2, 2}, {1, 1}}, 1);
  CHECK_THROWS_WITH_AS(shape.with_processes({0, 0}),
                       "shape: processes has 2 entries for 3 workers; give one per worker, or none",
                       Error);
  CHECK_THROWS_WITH_AS(shape.with_processes({0, 1, 0}),
                       "shape: worker 2 of node 1 is in process 0; processes are numbered from 0 "
                       "on, and have workers on one node only",
                       Error);
  CHECK_THROWS_AS(shape.with_processes({0, -1, 2}), Error);
}

TEST_CASE("equality sees every part") {
  const Shape shape({{2, 3}, {1, 1}}, 2);
  CHECK(shape == Shape({{2, 3}, {1, 1}}, 2));
  CHECK_FALSE(shape == Shape({{2, 3}, {1, 2}}, 2));
  CHECK_FALSE(shape == Shape({{1, 3}, {1, 1}}, 2));
  CHECK_FALSE(shape == Shape({{2, 3}}, 2));
  CHECK_FALSE(shape == Shape({{2, 3}, {1, 1}}, 1));
  CHECK_FALSE(shape == Shape({{2, 3}, {1, 1}}, 2, Visibility::staged));
  CHECK_FALSE(shape == Shape({{2, 3}, {1, 1}}, 2, Visibility::direct, {1, 0}));
  CHECK_FALSE(shape.with_processes({}) == shape.with_processes_of(2));
}

TEST_CASE("what is wrong with a shape is named") {
  CHECK(error_of({}, 1) == "shape: 0 nodes; a collective needs at least one node");
  CHECK_THROWS_AS(Shape::uniform(0, 1, 1), Error);
  CHECK_THROWS_AS(Shape::uniform(-3, 1, 1), Error);
  CHECK(error_of({{1, 1}}, 0) == "shape: lane_count is 0; ask for at least 1 lane");
  const std::string expected = "; expected 0 <= members <= workers and at least 1 worker";
  CHECK(error_of({{1, 1}, {-1, 2}}, 1) == "shape: node 1 has -1 members and 2 workers" + expected);
  CHECK(error_of({{1, 1}, {0, 0}}, 1) == "shape: node 1 has 0 members and 0 workers" + expected);
  CHECK(error_of({{3, 2}}, 1) == "shape: node 0 has 3 members and 2 workers" + expected);
  CHECK(error_of({{0, 1}, {0, 3}}, 1) ==
        "shape: no node has a member; a collective needs at least one");
  CHECK(error_of({{1, 1}}, 2, {0}) ==
        "shape: lane_workers has 1 entries for 2 lanes; give one worker per lane, or none for the "
        "default");
  CHECK(error_of({{1, 1}}, 2, {0, -1}) ==
        "shape: lane_workers has a negative entry; workers are numbered from 0");
}

}  // namespace
}  // namespace hycoll
