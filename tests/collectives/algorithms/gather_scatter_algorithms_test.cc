// The generators of gather and scatter: proved over a sweep of shapes and roots, counted against
// formulas.

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/collective_traits.h"
#include "core/staging/staging.h"
#include "core/verifier/verifier.h"
#include "tests/support/sanitized.h"

namespace hycoll {
namespace gather_scatter_algorithms_test {

constexpr Collective kBoth[] = {Collective::gather, Collective::scatter};

Resources resources_of(const Schedule& schedule) {
  const Verdict verdict = verify(schedule);
  REQUIRE_MESSAGE(verdict.correct, verdict.failure);
  return verdict.resources;
}

Schedule generated(Collective collective, std::string_view name, const Shape& shape, int root) {
  return find_algorithm(collective, name).generate(shape, 1, root);
}

void prove_all(const Shape& shape, int root) {
  for (const Collective collective : kBoth) {
    for (const Algorithm& algorithm : algorithms_of(collective)) {
      if (!algorithm.serves_shape(shape)) continue;
      const Schedule schedule = algorithm.generate(shape, 1, root);
      resources_of(schedule);
      if (!algorithm.name.starts_with("lines-")) resources_of(staged(schedule));
    }
  }
}

TEST_CASE("every algorithm is correct on equal and unequal nodes, from every root's place") {
  for (int nodes = 1; nodes <= (tests::kIsSanitized ? 5 : 9); ++nodes) {
    for (int members = 1; members <= 3; ++members) {
      for (int lanes = 1; lanes <= 3; ++lanes) {
        const Shape equal = Shape::uniform(nodes, members, lanes);
        prove_all(equal, (nodes + lanes) % equal.member_count());
        std::vector<Node> list;
        for (int node = 0; node < nodes; ++node) {
          list.push_back({.members = 1 + node % members, .workers = 1 + node % members});
        }
        const Shape unequal(std::move(list), lanes);
        prove_all(unequal, unequal.member_count() - 1);
        prove_all(unequal, unequal.member_count() / 2);
      }
    }
  }
}

TEST_CASE("all roots of one shape") {
  const Shape shape(std::vector<Node>{{2, 3}, {1, 1}, {3, 3}, {1, 2}, {2, 2}}, 1);
  for (int root = 0; root < shape.member_count(); ++root) prove_all(shape, root);
}

/// What the node that has most to do receives in a gather, or sends in a scatter: the root's.
struct Traffic {
  std::size_t messages = 0;
  std::size_t chunks = 0;
};

Traffic traffic_at_root(const Schedule& schedule) {
  const bool receives = delivers_to_root(schedule.collective);
  const int root_node = schedule.shape.node_of_member(schedule.root);
  Traffic traffic;
  for (const Strand& strand : schedule.strands) {
    if (schedule.shape.node_of_worker(strand.worker) != root_node) continue;
    for (const Step& step : strand.steps) {
      if (step.kind != (receives ? StepKind::recv : StepKind::send)) continue;
      const Span& span = receives ? schedule.destinations(step)[0] : schedule.sources(step)[0];
      ++traffic.messages;
      traffic.chunks += static_cast<std::size_t>(span.chunk_count);
    }
  }
  return traffic;
}

TEST_CASE("the root's node has all parts but its own come or go, in the steps of the tree") {
  for (int nodes = 2; nodes <= (tests::kIsSanitized ? 9 : 33); ++nodes) {
    const Shape shape = Shape::uniform(nodes, 1, 1);
    const auto others = static_cast<std::size_t>(nodes) - 1;
    const auto rounds = static_cast<std::size_t>(std::bit_width(others));
    for (const int root : {0, nodes / 2, nodes - 1}) {
      CAPTURE(nodes);
      CAPTURE(root);
      // What reaches over the last node takes two, wherever the root is not the first one.
      const std::size_t wrapped = root > 0 ? 1 : 0;
      for (const Collective collective : kBoth) {
        const Schedule linear = generated(collective, "linear", shape, root);
        CHECK(traffic_at_root(linear).messages == others);
        CHECK(traffic_at_root(linear).chunks == others);
        CHECK(resources_of(linear).message_count == others);
        const Schedule binomial = generated(collective, "binomial", shape, root);
        CHECK(traffic_at_root(binomial).messages >= rounds);
        CHECK(traffic_at_root(binomial).messages <= rounds + wrapped);
        CHECK(traffic_at_root(binomial).chunks == others);
        CHECK(resources_of(binomial).message_count >= others);
        CHECK(resources_of(binomial).message_count <= others + wrapped * rounds);
      }
    }
  }
}

TEST_CASE("up or down the tree a node of a power of two holds what is below it, and no more") {
  constexpr int kNodes = 16;
  const Shape shape = Shape::uniform(kNodes, 1, 1);
  for (const Collective collective : kBoth) {
    const Resources resources = resources_of(generated(collective, "binomial", shape, 0));
    CHECK(resources.node_memory_chunk_count == kNodes / 2);
    CHECK(resources_of(generated(collective, "linear", shape, 0)).node_memory_chunk_count == 0);
  }
  // Of a gather nobody but the root's sends more than half, of a scatter the root's all but one.
  CHECK(resources_of(generated(Collective::gather, "binomial", shape, 0)).node_sent_chunk_count ==
        kNodes / 2);
  CHECK(resources_of(generated(Collective::scatter, "binomial", shape, 0)).node_sent_chunk_count ==
        kNodes - 1);
}

TEST_CASE("each lane moves its share of every node's part, its member's block without a copy") {
  const Shape shape = Shape::uniform(5, 3, 3);
  for (const Collective collective : kBoth) {
    const Schedule schedule = generated(collective, "multi-leader-linear", shape, 4);
    CHECK(traffic_at_root(schedule).messages == 4 * 3);
    CHECK(traffic_at_root(schedule).chunks == 4 * 3);
    CHECK(resources_of(schedule).node_memory_chunk_count == 0);
  }
}

TEST_CASE("on one node each leader moves its member's block when the root is there") {
  for (const Collective collective : kBoth) {
    const Schedule schedule =
        generated(collective, "multi-leader-linear", Shape::uniform(1, 4, 4), 2);
    for (const Strand& strand : schedule.strands) {
      const auto of_kind = [&](StepKind kind) {
        return std::ranges::count(strand.steps, kind, &Step::kind);
      };
      CHECK(of_kind(StepKind::copy) == 1);
      // At the end all wait until the others have entered, and the root for the other leaders.
      CHECK(of_kind(StepKind::wait) == (strand.worker == 2 ? 3 + 3 : 3));
    }
  }
}

}  // namespace gather_scatter_algorithms_test
}  // namespace hycoll
