// The generators of allgather: proved over a sweep of shapes, counted against formulas.

#include <doctest/doctest.h>

#include <bit>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/staging/staging.h"
#include "core/verifier/verifier.h"
#include "tests/support/sanitized.h"

namespace hycoll {
namespace allgather_algorithms_test {

Resources resources_of(std::string_view name, const Shape& shape) {
  const Verdict verdict = verify(find_algorithm(Collective::allgather, name).generate(shape));
  REQUIRE_MESSAGE(verdict.correct, verdict.failure);
  return verdict.resources;
}

void prove_all(const Shape& shape) {
  for (const Algorithm& algorithm : algorithms_of(Collective::allgather)) {
    if (!algorithm.serves_shape(shape)) continue;
    const Schedule schedule = algorithm.generate(shape);
    const Verdict verdict = verify(schedule);
    REQUIRE_MESSAGE(verdict.correct, verdict.failure);
    if (algorithm.name.starts_with("lines-")) continue;  // bounded by kMaximumLinesBytes
    CHECK(verdict.resources.node_memory_chunk_count == 0);
    const Verdict through_staging = verify(staged(schedule));
    REQUIRE_MESSAGE(through_staging.correct, through_staging.failure);
    // Elsewhere what a leader collects is staged before and after, and its messages are put
    // together.
    const bool is_own = shape.node_count() == 1 && shape.lane_count() == shape.member_count();
    CHECK(through_staging.resources.node_memory_vectors <= (is_own ? 1 : 3));
  }
}

TEST_CASE("every algorithm is correct on equal and unequal nodes") {
  for (int nodes = 1; nodes <= (tests::kIsSanitized ? 5 : 9); ++nodes) {
    for (int members = 1; members <= 3; ++members) {
      for (int lanes = 1; lanes <= 3; ++lanes) {
        prove_all(Shape::uniform(nodes, members, lanes));
        std::vector<Node> unequal;
        for (int node = 0; node < nodes; ++node) {
          unequal.push_back({.members = 1 + node % members, .workers = 1 + node % members});
        }
        prove_all(Shape(std::move(unequal), lanes));
      }
    }
  }
}

TEST_CASE("every node sends all blocks but one, in the steps of its exchange") {
  for (int nodes = 2; nodes <= (tests::kIsSanitized ? 9 : 33); ++nodes) {
    CAPTURE(nodes);
    const Shape shape = Shape::uniform(nodes, 1, 1);
    const auto others = static_cast<std::size_t>(nodes) - 1;
    const auto rounds = static_cast<std::size_t>(std::bit_width(others));
    const Resources ring = resources_of("ring", shape);
    CHECK(ring.node_message_count == others);
    CHECK(ring.node_sent_chunk_count == others);
    const Resources circulant = resources_of("circulant", shape);
    CHECK(circulant.node_message_count >= rounds);
    // What reaches over the last block takes two.
    CHECK(circulant.node_message_count <= 2 * rounds);
    CHECK(circulant.node_sent_chunk_count == others);
    const Resources bruck = resources_of("bruck", shape);
    CHECK(bruck.node_message_count >= rounds);
    CHECK(bruck.node_message_count <= 2 * rounds);
    CHECK(bruck.node_sent_chunk_count == others);
    const bool is_even = nodes % 2 == 0;
    CHECK(find_algorithm(Collective::allgather, "neighbour-exchange").serves_shape(shape) ==
          is_even);
    if (is_even) {
      const Resources neighbours = resources_of("neighbour-exchange", shape);
      CHECK(neighbours.node_message_count == others / 2 + 1);
      CHECK(neighbours.node_sent_chunk_count == others);
    }
    const bool is_power = std::has_single_bit(static_cast<unsigned>(nodes));
    for (const std::string_view name :
         {"recursive-doubling", "lines-recursive-doubling", "shared-address-recursive-doubling"}) {
      CHECK(find_algorithm(Collective::allgather, name).serves_shape(shape) == is_power);
      if (!is_power) continue;
      CHECK(resources_of(name, shape).node_message_count == rounds);
      CHECK(resources_of(name, shape).node_sent_chunk_count == others);
    }
  }
}

/// What the nodes send, message by message in their order: distance backwards, blocks.
std::vector<std::vector<int>> messages_of(std::string_view name, int nodes, int node) {
  const Schedule schedule =
      find_algorithm(Collective::allgather, name).generate(Shape::uniform(nodes, 1, 1));
  std::vector<std::vector<int>> messages;
  for (const Strand& strand : schedule.strands) {
    if (strand.worker != node) continue;
    for (const Step& step : strand.steps) {
      if (step.kind != StepKind::send) continue;
      const Span& sent = schedule.sources(step).front();
      messages.push_back(
          {(node + nodes - step.peer_node) % nodes, sent.first_chunk, sent.chunk_count});
    }
  }
  return messages;
}

TEST_CASE("Bruck's messages are those of the circulant graph where halving gives powers of two") {
  for (int nodes = 2; nodes <= (tests::kIsSanitized ? 9 : 20); ++nodes) {
    CAPTURE(nodes);
    bool are_same = true;
    for (int node = 0; node < nodes; ++node) {
      are_same =
          are_same && messages_of("bruck", nodes, node) == messages_of("circulant", nodes, node);
    }
    // Of one node less than a power of two, rounded up, the halves are the same.
    CHECK(are_same == (std::has_single_bit(static_cast<unsigned>(nodes)) ||
                       std::has_single_bit(static_cast<unsigned>(nodes) + 1)));
  }
}

TEST_CASE("Bruck's distances are the powers of two, and the last message has the rest") {
  using Messages = std::vector<std::vector<int>>;
  CHECK(messages_of("bruck", 7, 0) == Messages{{1, 0, 1}, {2, 0, 2}, {4, 0, 3}});
  // Over the last block to the first one.
  CHECK(messages_of("bruck", 7, 6) ==
        Messages{{1, 6, 1}, {2, 6, 1}, {2, 0, 1}, {4, 6, 1}, {4, 0, 2}});
}

TEST_CASE("neighbours exchange pairs of blocks in turn") {
  using Messages = std::vector<std::vector<int>>;
  CHECK(messages_of("neighbour-exchange", 8, 2) ==
        Messages{{7, 2, 1}, {1, 2, 2}, {7, 0, 2}, {1, 4, 2}});
  CHECK(messages_of("neighbour-exchange", 8, 3) ==
        Messages{{1, 3, 1}, {7, 2, 2}, {1, 4, 2}, {7, 0, 2}});
}

TEST_CASE("each lane sends its share of every node's part") {
  const Resources lanes = resources_of("multi-leader-ring", Shape::uniform(5, 3, 3));
  CHECK(lanes.node_message_count == 4 * 3);
  // Blocks of one chunk: 3 members on each of 4 other nodes.
  CHECK(lanes.node_sent_chunk_count == 4 * 3);
}

TEST_CASE("members follow their leader: one copy of each block each, and no more messages") {
  for (const Shape& shape : {Shape::uniform(1, 4, 1), Shape::uniform(5, 3, 1)}) {
    const Schedule schedule =
        find_algorithm(Collective::allgather, "shared-address-circulant").generate(shape);
    const int members = shape.member_count() / shape.node_count();
    std::vector<int> copied(static_cast<std::size_t>(shape.worker_count()), 0);
    for (const Strand& strand : schedule.strands) {
      for (const Step& step : strand.steps) {
        if (step.kind != StepKind::copy) continue;
        CHECK(schedule.destinations(step).size() == 1);
        copied[static_cast<std::size_t>(strand.worker)] +=
            schedule.destinations(step).front().chunk_count;
      }
    }
    for (int worker = 0; worker < shape.worker_count(); ++worker) {
      // The leader copies the inputs of its node, the others all blocks.
      const bool leads = worker % members == 0;
      CHECK(copied[static_cast<std::size_t>(worker)] == (leads ? members : shape.member_count()));
    }
    CHECK(resources_of("shared-address-circulant", shape).node_message_count ==
          resources_of("circulant", shape).node_message_count);
  }
}

TEST_CASE("on one node every leader writes its blocks once, in one step for each member") {
  const Schedule schedule =
      find_algorithm(Collective::allgather, "multi-leader-ring").generate(Shape::uniform(1, 4, 4));
  std::size_t copies = 0;
  for (const Strand& strand : schedule.strands) {
    for (const Step& step : strand.steps) {
      if (step.kind != StepKind::copy) continue;
      ++copies;
      CHECK(schedule.destinations(step).size() == 4);
    }
  }
  CHECK(copies == 4);
}

}  // namespace allgather_algorithms_test
}  // namespace hycoll
