// Broadcast in colours: what the schedules send over the links of the torus.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "collectives/algorithms/torus/torus.h"
#include "core/drawing/statistics.h"
#include "core/verifier/verifier.h"

namespace hycoll {
namespace broadcast_torus_test {

Schedule generate(const Shape& shape, int segments, int root) {
  Schedule schedule =
      find_algorithm(Collective::broadcast, "torus-colours").generate(shape, segments, root);
  const Verdict verdict = verify(schedule);
  REQUIRE_MESSAGE(verdict.correct, verdict.failure);
  return schedule;
}

struct Link {
  int from;
  int to;
  friend auto operator<=>(const Link&, const Link&) = default;
};

/// The messages of each lane over each link in its direction.
std::map<Link, std::map<int, int>> messages_of(const Schedule& schedule) {
  std::map<Link, std::map<int, int>> messages;
  for (const Strand& strand : schedule.strands) {
    const int node = schedule.shape.node_of_worker(strand.worker);
    for (const Step& step : strand.steps) {
      if (step.kind == StepKind::send) ++messages[{node, step.peer_node}][step.lane];
    }
  }
  return messages;
}

TEST_CASE("no link carries two colours in one direction, from any root") {
  constexpr int kSegments = 2;
  for (const int nodes : {2, 3, 4, 5, 6, 8, 9, 12, 15, 16, 18, 27, 36, 45}) {
    const TorusDimensions torus = torus_dimensions(nodes);
    CAPTURE(torus.length);
    const int colours = EdgeDisjointTrees(torus, 0).count();
    for (const int root : std::set{0, nodes / 2, nodes - 1}) {
      CAPTURE(root);
      const auto messages =
          messages_of(generate(Shape::uniform(nodes, 1, colours), kSegments, root));
      std::size_t total = 0;
      for (const auto& [link, lanes] : messages) {
        REQUIRE(lanes.size() == 1);
        REQUIRE(lanes.begin()->second == kSegments);
        total += static_cast<std::size_t>(kSegments);
        REQUIRE(link.to != root);
      }
      CHECK(total == static_cast<std::size_t>(colours * (nodes - 1) * kSegments));
    }
  }
}

TEST_CASE("all links of the root work: each sends one colour of the vector") {
  const auto messages = messages_of(generate(Shape::uniform(27, 1, 6), 3, 13));
  const auto of_root =
      std::ranges::count_if(messages, [](const auto& link) { return link.first.from == 13; });
  CHECK(of_root == 6);
  const ScheduleStatistics counted = statistics(generate(Shape::uniform(27, 1, 6), 1, 13));
  CHECK(counted.nodes[13].sent == 6);  // of 6 chunks
  CHECK(counted.message_count == 6 * 26);
}

TEST_CASE("a message is forwarded at most as often as the dimensions are long together") {
  for (const int nodes : {4, 9, 12, 27, 36, 64}) {
    CAPTURE(nodes);
    const TorusDimensions torus = torus_dimensions(nodes);
    std::size_t hops = 1;
    for (const int length : torus.length) hops += static_cast<std::size_t>(length - 1);
    const int colours = EdgeDisjointTrees(torus, 0).count();
    const ScheduleStatistics counted =
        statistics(generate(Shape::uniform(nodes, 1, colours), 1, 0));
    CHECK(counted.critical_message_count <= hops);
  }
}

TEST_CASE("more lanes than colours, members and workers; unequal nodes") {
  for (const int nodes : {1, 2, 7, 12}) {
    for (const int lanes : {1, 3, 5, 8}) {
      std::vector<Node> unequal;
      for (int node = 0; node < nodes; ++node) {
        const int members = 1 + node % 3;
        unequal.push_back({.members = members, .workers = members + node % 2});
      }
      const Shape shape(std::move(unequal), lanes);
      for (int root = 0; root < shape.member_count(); root += 3) generate(shape, 2, root);
    }
  }
}

}  // namespace broadcast_torus_test
}  // namespace hycoll
