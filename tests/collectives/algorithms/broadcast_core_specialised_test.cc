// Broadcast with a task for every worker: proved over shapes and roots, counted, and every worker's
// task.

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/drawing/statistics.h"
#include "core/verifier/verifier.h"

namespace hycoll {
namespace broadcast_core_specialised_test {

Shape shape_of(std::vector<Node> hosts, int aggregators) {
  hosts.insert(hosts.end(), static_cast<std::size_t>(aggregators), Node{0, 1});
  return Shape(std::move(hosts), 2);
}

Schedule generate(const Shape& shape, int segments, int root) {
  Schedule schedule =
      find_algorithm(Collective::broadcast, "core-specialised").generate(shape, segments, root);
  const Verdict verdict = verify(schedule);
  REQUIRE_MESSAGE(verdict.correct, verdict.failure);
  return schedule;
}

TEST_CASE(
    "every host count, member count, tree and root; messages and memory as the formulas say") {
  for (int hosts = 1; hosts <= 9; ++hosts) {
    for (int aggregators = 1; aggregators <= 4; ++aggregators) {
      for (int members = 1; members <= 5; ++members) {
        std::vector<Node> nodes;
        for (int host = 0; host < hosts; ++host) {
          const int count = 1 + (members + host - 1) % 5;
          nodes.push_back({.members = count, .workers = count + host % 2});
        }
        const Shape shape = shape_of(std::move(nodes), aggregators);
        const int segments = 1 + members % 3;
        for (int root = 0; root < shape.member_count(); root += 1 + hosts / 4) {
          CAPTURE(root);
          const Schedule schedule = generate(shape, segments, root);
          const ScheduleStatistics counted = statistics(schedule);
          const int used = std::min(aggregators, std::max(1, hosts - 1));
          const auto expected =
              static_cast<std::size_t>(hosts == 1 ? 0 : segments * (hosts - 1 + used));
          CHECK(counted.message_count == expected);
          for (int node = 0; node < shape.node_count(); ++node) {
            const NodeStatistics& here = counted.nodes[static_cast<std::size_t>(node)];
            if (node >= hosts) {
              CHECK(here.scratch <= static_cast<std::size_t>(segments));
              continue;
            }
            const bool injects = node == shape.node_of_member(root) && hosts > 1;
            CHECK(here.sent == static_cast<std::size_t>(injects ? segments : 0));
            CHECK(here.scratch == 0);
            CHECK(here.copy_written ==
                  static_cast<std::size_t>((shape.node(node).members - 1) * segments));
          }
        }
      }
    }
  }
}

TEST_CASE("without aggregators the hosts are a binary tree from any root") {
  for (int hosts = 1; hosts <= 12; ++hosts) {
    for (int members = 1; members <= 4; ++members) {
      std::vector<Node> nodes;
      for (int host = 0; host < hosts; ++host) {
        const int count = 1 + (members + host - 1) % 4;
        nodes.push_back({.members = count, .workers = count + host % 2});
      }
      const Shape shape = shape_of(std::move(nodes), 0);
      const auto segments = static_cast<std::size_t>(1 + members % 3);
      for (int root = 0; root < shape.member_count(); root += 1 + hosts / 4) {
        CAPTURE(hosts);
        CAPTURE(root);
        const ScheduleStatistics counted =
            statistics(generate(shape, static_cast<int>(segments), root));
        CHECK(counted.message_count == segments * static_cast<std::size_t>(hosts - 1));
        for (int host = 0; host < hosts; ++host) {
          const NodeStatistics& here = counted.nodes[static_cast<std::size_t>(host)];
          const int number = (host - shape.node_of_member(root) + hosts) % hosts;
          const int children = std::clamp(hosts - 2 * number - 1, 0, 2);
          CHECK(here.sent == segments * static_cast<std::size_t>(children));
          CHECK(here.scratch == 0);
          CHECK(here.copy_written ==
                static_cast<std::size_t>(shape.node(host).members - 1) * segments);
        }
      }
    }
  }
}

/// Steps of one kind that a worker has.
std::vector<Step> steps_of(const Schedule& schedule, int worker, StepKind kind) {
  std::vector<Step> found;
  for (const Strand& strand : schedule.strands) {
    if (strand.worker != worker) continue;
    std::ranges::copy_if(strand.steps, std::back_inserter(found),
                         [&](const Step& step) { return step.kind == kind; });
  }
  return found;
}

TEST_CASE("with four workers each has its task, as in the paper's figure 4") {
  constexpr int kSegments = 3;
  const Schedule schedule = generate(shape_of({{4, 4}, {4, 4}}, 1), kSegments, 0);
  const auto copies = [&](int worker) { return steps_of(schedule, worker, StepKind::copy); };
  CHECK(steps_of(schedule, 0, StepKind::send).size() == kSegments);
  for (const int worker : {1, 2, 3, 4, 5, 6, 7}) {
    CHECK(steps_of(schedule, worker, StepKind::send).empty());
    CHECK(steps_of(schedule, worker, StepKind::recv).size() == (worker == 5 ? kSegments : 0));
  }
  CHECK(copies(0).empty());
  for (const int worker : {1, 2, 3}) CHECK(copies(worker).size() == 1);
  CHECK(copies(4).empty());
  CHECK(copies(5).empty());
  for (const int worker : {6, 7}) {
    REQUIRE(copies(worker).size() == kSegments);
    for (const Step& copy : copies(worker)) CHECK(copy.destination_count == (worker == 6 ? 2 : 1));
  }
}

TEST_CASE("on the way down the tree the injector and the receiver are different workers") {
  constexpr int kSegments = 2;
  const Schedule schedule = generate(shape_of({{4, 4}, {4, 4}, {4, 4}, {4, 4}}, 0), kSegments, 0);
  const auto count = [&](int worker, StepKind kind) {
    return static_cast<int>(steps_of(schedule, worker, kind).size());
  };
  // Node 0 sends to 1 and 2, node 1 to 3.
  for (int worker = 0; worker < 16; ++worker) {
    CAPTURE(worker);
    const bool receives = worker == 4 || worker == 8 || worker == 13;
    const int children = worker == 0 ? 2 : worker == 5 ? 1 : 0;
    CHECK(count(worker, StepKind::recv) == (receives ? kSegments : 0));
    CHECK(count(worker, StepKind::send) == children * kSegments);
  }
  for (const int helper : {6, 10, 14}) {
    for (const Step& copy : steps_of(schedule, helper, StepKind::copy)) {
      CHECK(copy.destination_count == 2);
    }
  }
}

TEST_CASE("shapes with other lanes, with large aggregators or with some in between are refused") {
  const Algorithm& algorithm = find_algorithm(Collective::broadcast, "core-specialised");
  CHECK(algorithm.serves_shape(shape_of({{2, 2}, {1, 2}}, 2)));
  CHECK(algorithm.serves_shape(shape_of({{2, 2}, {1, 2}}, 0)));
  CHECK_FALSE(algorithm.serves_shape(Shape({{2, 2}, {1, 2}}, 1)));
  CHECK_FALSE(algorithm.serves_shape(Shape({{2, 2}, {1, 2}}, 3)));
  CHECK_FALSE(algorithm.serves_shape(Shape({{2, 2}, {2, 2}, {0, 1}}, 1)));
  CHECK_FALSE(algorithm.serves_shape(Shape({{2, 2}, {2, 2}, {0, 2}}, 2)));
  CHECK_FALSE(algorithm.serves_shape(Shape({{2, 2}, {0, 1}, {2, 2}}, 2)));
}

}  // namespace broadcast_core_specialised_test
}  // namespace hycoll
