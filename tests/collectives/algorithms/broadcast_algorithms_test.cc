// The generators of broadcast: proved over a sweep of shapes and roots, counted against formulas.

#include <doctest/doctest.h>

#include <bit>
#include <string_view>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/staging/staging.h"
#include "core/verifier/verifier.h"
#include "tests/support/sanitized.h"

namespace hycoll {
namespace broadcast_algorithms_test {

/// What messages a broadcast on nodes of one member each has.
std::size_t messages_of(std::string_view name, int node_count, int segments = 1, int root = 0) {
  const Schedule schedule = find_algorithm(Collective::broadcast, name)
                                .generate(Shape::uniform(node_count, 1, 1), segments, root);
  const Verdict verdict = verify(schedule);
  REQUIRE_MESSAGE(verdict.correct, verdict.failure);
  return verdict.resources.message_count;
}

/// The chunks that a node owns after a binomial scatter of one chunk per node, straight from the
/// slides: those of the nodes below it.
int owned_after_scatter(int node, int node_count) {
  int owned = 1;
  for (int distance = 1; distance < node_count && node % (2 * distance) == 0; distance *= 2) {
    if (node + distance < node_count) owned += owned_after_scatter(node + distance, node_count);
  }
  return owned;
}

/// Half of them: `hycoll verify` proves all.
void prove_all(const Shape& shape, tests::Sample& sample) {
  for (const Algorithm& algorithm : algorithms_of(Collective::broadcast)) {
    if (!algorithm.serves_shape(shape)) continue;
    for (const int segments : {1, 3}) {
      for (int root = 0; root < shape.member_count(); ++root) {
        if (!sample.takes_next()) continue;
        const Verdict verdict = verify(algorithm.generate(shape, segments, root));
        REQUIRE_MESSAGE(verdict.correct, verdict.failure);
        if (algorithm.name.starts_with("lines-")) continue;  // bounded by kMaximumLinesBytes
        CHECK(verdict.resources.node_memory_vectors <= 1);
      }
    }
  }
}

TEST_CASE("more segments than receives that are posted ahead") {
  for (const Algorithm& algorithm : algorithms_of(Collective::broadcast)) {
    if (algorithm.segmentation != Segmentation::messages) continue;
    for (const int nodes : {2, 3, 5, 8}) {
      for (const int members : {1, 2}) {
        for (const int lanes : {1, 2}) {
          const Shape shape = Shape::uniform(nodes, members, lanes);
          if (!algorithm.serves_shape(shape)) continue;
          const Schedule schedule = algorithm.generate(shape, 9, shape.member_count() - 1);
          const Verdict verdict = verify(schedule);
          REQUIRE_MESSAGE(verdict.correct, verdict.failure);
          if (lanes > members) continue;  // processes are members
          const Verdict through_staging = verify(staged(schedule));
          REQUIRE_MESSAGE(through_staging.correct, through_staging.failure);
        }
      }
    }
  }
}

TEST_CASE("every algorithm is correct from every root, on equal and unequal nodes") {
  tests::Sample sample;
  for (int nodes = 1; nodes <= (tests::kIsSanitized ? 5 : 9); ++nodes) {
    for (int members = 1; members <= 3; ++members) {
      for (int lanes = 1; lanes <= 3; ++lanes) {
        prove_all(Shape::uniform(nodes, members, lanes), sample);
        std::vector<Node> pools(static_cast<std::size_t>(nodes), Node{1, members});
        prove_all(Shape(std::move(pools), lanes), sample);
        std::vector<Node> unequal;
        for (int node = 0; node < nodes; ++node) {
          const int count = 1 + node % members;
          unequal.push_back({.members = count, .workers = count + node % 2});
        }
        prove_all(Shape(std::move(unequal), lanes), sample);
      }
    }
  }
}

TEST_CASE("the rings take the slides' numbers of messages besides the scatter's") {
  CHECK(messages_of("scatter-ring-allgather", 8) == 7 + 56);
  CHECK(messages_of("scatter-ring-allgather", 10) == 9 + 90);
  CHECK(messages_of("scatter-ring-allgather-opt", 8) == 7 + 44);
  CHECK(messages_of("scatter-ring-allgather-opt", 10) == 9 + 75);
}

TEST_CASE("what the ring saves is what is owned after the scatter, for every number of nodes") {
  for (int nodes = 2; nodes <= 40; ++nodes) {
    CAPTURE(nodes);
    std::size_t saved = 0;
    for (int node = 0; node < nodes; ++node) {
      saved += static_cast<std::size_t>(owned_after_scatter(node, nodes)) - 1;
    }
    const auto count = static_cast<std::size_t>(nodes);
    for (const int root : {0, nodes / 2, nodes - 1}) {
      CHECK(messages_of("scatter-ring-allgather", nodes, 1, root) ==
            count - 1 + count * (count - 1));
      CHECK(messages_of("scatter-ring-allgather-opt", nodes, 1, root) ==
            count - 1 + count * (count - 1) - saved);
    }
  }
}

TEST_CASE("trees send every node each segment once; the chain's nodes send once") {
  for (int nodes = 2; nodes <= 20; ++nodes) {
    CAPTURE(nodes);
    for (const char* name : {"binomial", "knomial", "multi-leader-chain"}) {
      for (const int segments : {1, 5}) {
        CHECK(messages_of(name, nodes, segments, nodes - 1) ==
              static_cast<std::size_t>((nodes - 1) * segments));
      }
    }
    const Schedule chain = find_algorithm(Collective::broadcast, "multi-leader-chain")
                               .generate(Shape::uniform(nodes, 1, 1), 5, 0);
    CHECK(verify(chain).resources.node_message_count == 5);
  }
}

TEST_CASE("over the circulant graph nodes get what they lack, in a message of each round") {
  const Algorithm& circulant =
      find_algorithm(Collective::broadcast, "multi-leader-scatter-circulant");
  for (int nodes = 2; nodes <= 40; ++nodes) {
    const auto rounds = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(nodes - 1)));
    for (int node = 1; node < nodes; ++node) {
      const Schedule part = circulant.generate(Shape::uniform(nodes, 1, 1), 1, 0, only_node(node));
      std::size_t messages = 0;
      int chunks = 0;
      for (const Strand& strand : part.strands) {
        for (const Step& step : strand.steps) {
          if (step.kind != StepKind::recv) continue;
          ++messages;
          chunks += part.destinations(step).front().chunk_count;
        }
      }
      CAPTURE(nodes);
      CAPTURE(node);
      CHECK(chunks == nodes);
      // Of the scatter one; what reaches over the last chunk takes two.
      CHECK(messages <= rounds + 2);
    }
  }
}

TEST_CASE("doubling serves powers of two only") {
  const Algorithm& doubling =
      find_algorithm(Collective::broadcast, "scatter-recursive-doubling-allgather");
  for (int nodes = 1; nodes <= 33; ++nodes) {
    const bool is_power = std::has_single_bit(static_cast<unsigned>(nodes));
    CHECK(doubling.serves_shape(Shape::uniform(nodes, 1, 1)) == is_power);
    if (!is_power || nodes == 1) continue;
    const auto count = static_cast<std::size_t>(nodes);
    CHECK(messages_of(doubling.name, nodes) ==
          count - 1 + count * static_cast<std::size_t>(std::countr_zero(count)));
  }
}

}  // namespace broadcast_algorithms_test
}  // namespace hycoll
