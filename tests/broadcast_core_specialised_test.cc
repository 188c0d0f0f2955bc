// Broadcast over an aggregation tree: proved over shapes and roots, counted, and every worker's
// task.

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "collectives/registry.h"
#include "core/statistics.h"
#include "core/verifier.h"

namespace hycoll {
namespace {

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

TEST_CASE("shapes without aggregators, with other lanes or with large aggregators are refused") {
  const Algorithm& algorithm = find_algorithm(Collective::broadcast, "core-specialised");
  CHECK(algorithm.serves_shape(shape_of({{2, 2}, {1, 2}}, 2)));
  CHECK_FALSE(algorithm.serves_shape(shape_of({{2, 2}, {1, 2}}, 0)));
  CHECK_FALSE(algorithm.serves_shape(Shape({{2, 2}, {2, 2}, {0, 1}}, 1)));
  CHECK_FALSE(algorithm.serves_shape(Shape({{2, 2}, {2, 2}, {0, 2}}, 2)));
  CHECK_FALSE(algorithm.serves_shape(Shape({{2, 2}, {0, 1}, {2, 2}}, 2)));
}

}  // namespace
}  // namespace hycoll
