#include "core/schedule/shape.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <climits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "tests/support/allocated_memory.h"

namespace hycoll {
namespace shape_test {

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

/// Runs of equal nodes, of aggregators too, in many orders: each bit says whether node n is like
/// the one before it.
std::vector<Node> nodes_in_runs(int node_count, unsigned likes_previous) {
  const std::vector<Node> kinds = {{2, 3}, {0, 2}, {1, 1}, {4, 4}};
  std::vector<Node> nodes = {kinds.front()};
  std::size_t kind = 0;
  for (int n = 1; n < node_count; ++n) {
    if ((likes_previous >> n & 1U) == 0) kind = (kind + 1) % kinds.size();
    nodes.push_back(kinds[kind]);
  }
  return nodes;
}

/// Every node led in one of two ways, by turns of its own.
std::vector<std::vector<int>> leaders_in_runs(const std::vector<Node>& nodes, unsigned ways) {
  std::vector<std::vector<int>> leaders;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const int last = nodes[n].workers - 1;
    leaders.push_back((ways >> n & 1U) != 0 ? std::vector{last, 0} : std::vector{0, last});
  }
  return leaders;
}

TEST_CASE("nodes in runs are numbered and led as one by one") {
  constexpr int kNodes = 6;
  for (unsigned likes = 0; likes < 1U << kNodes; ++likes) {
    for (const unsigned ways : {0U, 1U, 12U, 42U, 63U}) {
      CAPTURE(likes);
      CAPTURE(ways);
      const std::vector<Node> nodes = nodes_in_runs(kNodes, likes);
      const auto leaders = leaders_in_runs(nodes, ways);
      const Shape shape = Shape(nodes, 2).with_leaders(leaders);
      CHECK(shape.node_runs() == runs_of(nodes));
      int member = 0;
      int worker = 0;
      for (int n = 0; n < kNodes; ++n) {
        const Node& node = nodes[static_cast<std::size_t>(n)];
        CHECK(shape.node(n) == node);
        CHECK(shape.first_member(n) == member);
        CHECK(shape.first_worker(n) == worker);
        for (int lane = 0; lane < 2; ++lane) {
          const auto& own = leaders[static_cast<std::size_t>(n)];
          CHECK(shape.leader(n, lane) == worker + own[static_cast<std::size_t>(lane)]);
        }
        for (int i = 0; i < node.members; ++i) {
          CHECK(shape.node_of_member(member + i) == n);
          CHECK(shape.worker_of_member(member + i) == worker + i);
        }
        for (int i = 0; i < node.workers; ++i) CHECK(shape.node_of_worker(worker + i) == n);
        member += node.members;
        worker += node.workers;
      }
      CHECK(shape.member_count() == member);
      CHECK(shape.worker_count() == worker);
    }
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

TEST_CASE("leaders by runs are those by node, wherever the runs of nodes end") {
  const Shape shape({{2, 4}, {2, 4}, {2, 4}, {3, 3}, {3, 3}}, 2);
  const std::vector<int> late = {2, 1};
  const std::vector<int> early = {0, 2};
  const std::vector<EqualLeaders> runs = {{early, 1}, {late, 3}, {early, 1}};
  CHECK(shape.with_leaders(runs) == shape.with_leaders({early, late, late, late, early}));
  CHECK(shape.with_leaders(runs).node_runs() == shape.node_runs());
  const std::vector<EqualLeaders> many = {{early, 6}};
  CHECK_THROWS_WITH_AS(shape.with_leaders(many),
                       "shape: leaders are given for 6 nodes of 5; give them for each", Error);
  const std::vector<EqualLeaders> wrong = {{early, 1}, {{3, 0}, 4}};
  CHECK_THROWS_WITH_AS(shape.with_leaders(wrong),
                       "shape: worker 3 of node 3 is to lead, which has 3 workers", Error);
}

TEST_CASE("a worker reaches the members of its node, or, staged, those of its process") {
  const Shape direct({{2, 4}, {3, 3}}, 1);
  const Shape pairs = direct.with_processes_of(2);
  CHECK(pairs.visibility() == Visibility::staged);
  CHECK(pairs.processes() == Processes({0, 0, 1, 1, 2, 2, 3}));
  const Shape alone = direct.with_visibility(Visibility::staged);
  const Shape mixed = direct.with_processes(Processes({5, 0, 5, 0, 7, 2, 7}));
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
  CHECK_THROWS_WITH_AS(shape.with_processes(Processes({0, 0})),
                       "shape: processes has 2 entries for 3 workers; give one per worker, or none",
                       Error);
  CHECK_THROWS_WITH_AS(shape.with_processes(Processes({0, 1, 0})),
                       "shape: worker 2 of node 1 is in process 0; processes are numbered from 0 "
                       "on, and have workers on one node only",
                       Error);
  CHECK_THROWS_AS(shape.with_processes(Processes({0, -1, 2})), Error);
  CHECK_THROWS_AS(shape.with_processes(Processes({0, 1})), Error);
}

/// Whether some process has workers on two nodes.
bool spans_nodes(const Shape& shape, const std::vector<int>& processes) {
  for (int a = 0; a < shape.worker_count(); ++a) {
    for (int b = 0; b < a; ++b) {
      if (processes[static_cast<std::size_t>(a)] == processes[static_cast<std::size_t>(b)] &&
          shape.node_of_worker(a) != shape.node_of_worker(b)) {
        return true;
      }
    }
  }
  return false;
}

TEST_CASE("processes: any cut of the workers, refused where it spans nodes") {
  const Shape shape({{2, 2}, {2, 2}, {3, 3}, {1, 1}}, 1);
  constexpr int kWorkers = 8;
  for (unsigned cuts = 0; cuts < 1U << (kWorkers - 1); ++cuts) {
    for (const bool ascends : {true, false}) {
      CAPTURE(cuts);
      CAPTURE(ascends);
      std::vector<int> processes = {ascends ? 0 : kWorkers};
      for (int w = 1; w < kWorkers; ++w) {
        const int step = (cuts >> (w - 1) & 1U) == 0 ? 0 : ascends ? 1 : -1;
        processes.push_back(processes.back() + step);
      }
      if (spans_nodes(shape, processes)) {
        CHECK_THROWS_AS(shape.with_processes(Processes(processes)), Error);
        continue;
      }
      const Shape divided = shape.with_processes(Processes(processes));
      for (int w = 0; w < kWorkers; ++w) {
        CHECK(divided.process(w) == processes[static_cast<std::size_t>(w)]);
      }
    }
  }
}

TEST_CASE("processes of so many threads are those that a list names") {
  for (int threads = 1; threads <= 5; ++threads) {
    const Shape shape({{4, 4}, {4, 4}, {3, 5}, {1, 1}, {2, 2}}, 1);
    std::vector<int> processes;
    int next = 0;
    for (int n = 0; n < shape.node_count(); ++n) {
      const int workers = shape.node(n).workers;
      for (int i = 0; i < workers; ++i) processes.push_back(next + i / threads);
      next = processes.back() + 1;
    }
    CAPTURE(threads);
    CHECK(shape.with_processes_of(threads) == shape.with_processes(Processes(processes)));
    CHECK(shape.with_processes_of(threads).processes().is_one_each() == (threads == 1));
  }
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
  CHECK_FALSE(shape.with_leaders({{0, 2}, {0, 0}}) == shape);
}

TEST_CASE("equality asks what shapes say, not how it was said") {
  const Shape shape({{2, 3}, {2, 3}, {1, 1}}, 2);
  const std::vector<EqualNodes> pieces = {{{2, 3}, 1}, {{5, 5}, 0}, {{2, 3}, 1}, {{1, 1}, 1}};
  CHECK(shape == Shape(pieces, 2));
  CHECK(shape == shape.with_leaders({{0, 1}, {0, 1}, {0, 0}}));
  CHECK(shape == Shape(pieces, 2, Visibility::direct, std::vector{3, 4}));
  const Shape staged = shape.with_visibility(Visibility::staged);
  CHECK(staged == shape.with_processes(Processes({0, 1, 2, 3, 4, 5, 6})));
  CHECK(staged == shape.with_processes_of(1));
  const auto led = shape.with_leaders({{2, 0}, {2, 0}, {0, 0}});
  CHECK(led == Shape(pieces, 2, Visibility::direct, std::vector{5, 0}));
  CHECK(led.with_leaders({{0, 1}, {0, 1}, {0, 0}}) == shape);
}

TEST_CASE("a shape takes memory for its runs of nodes, and its copies take none") {
  constexpr int kNodes = 80;
  constexpr int kMembers = 128;
  constexpr int kLanes = 16;
  constexpr std::size_t kSomeHundredBytes = 500;
  std::optional<Shape> shape;
  {
    const tests::PeakSince peak;
    shape = Shape::uniform(kNodes, kMembers, kLanes);
    CHECK(peak.complaint(kSomeHundredBytes) == "");
  }
  const EqualLeaders reversed{.workers = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
                              .count = kNodes};
  {
    const tests::PeakSince peak;
    const Shape led = shape->with_leaders(std::span(&reversed, 1)).with_processes_of(16);
    CHECK(led.process(kNodes * kMembers - 1) == kNodes * kMembers / 16 - 1);
    CHECK(peak.complaint(2 * kSomeHundredBytes) == "");
  }
  {
    const tests::PeakSince peak;
    const std::vector<Node> alternating = nodes_in_runs(4, 0);
    const Shape unequal(alternating, kLanes);
    CHECK(peak.complaint(2 * kSomeHundredBytes) == "");
  }
  const tests::PeakSince peak;
  const Shape copy = *shape;
  const Shape staged = copy.with_visibility(Visibility::staged);
  CHECK(peak.complaint(0) == "");
  CHECK(staged.member_count() == 10'240);
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
  CHECK_THROWS_WITH_AS(Shape::uniform(INT_MAX, 2, 1),
                       "shape: the nodes have 4294967294 workers; expected at most 2147483647",
                       Error);
  CHECK(error_of({{1, 1}}, 2, {0}) ==
        "shape: lane_workers has 1 entries for 2 lanes; give one worker per lane, or none for the "
        "default");
  CHECK(error_of({{1, 1}}, 2, {0, -1}) ==
        "shape: lane_workers has a negative entry; workers are numbered from 0");
}

}  // namespace shape_test
}  // namespace hycoll
