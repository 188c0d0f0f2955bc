#include <doctest/doctest.h>

#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/schedule/part_checks.h"
#include "core/verifier/verifier.h"

namespace hycoll {
namespace parts_test {

const Algorithm& ring() { return find_algorithm(Collective::allreduce, "dpml-ring"); }

/// Three unequal nodes, the last of which gives a worker two lanes.
Shape unequal_shape() { return Shape({{2, 3}, {4, 4}, {1, 1}}, 2); }
/// The same, where members of every node reach for others' buffers.
Shape crossing_shape() { return Shape({{2, 3}, {4, 4}, {2, 2}}, 2, Visibility::staged); }

TEST_CASE("the parts of all nodes make the whole") {
  for (const Shape& shape : {unequal_shape(), crossing_shape()}) {
    const Schedule whole = ring().generate(shape);
    std::vector<Schedule> parts;
    for (int node = 0; node < shape.node_count(); ++node) {
      parts.push_back(ring().generate(shape, 1, 0, only_node(node)));
      CHECK_FALSE(parts.back().is_whole());
    }
    const Schedule made = joined(parts);
    CHECK(made.is_whole());
    CHECK(verify(made).correct);
    CHECK(made.step_count() == whole.step_count());
    for (int node = 0; node < shape.node_count(); ++node) {
      CHECK(restricted_to(made, only_node(node)) == restricted_to(whole, only_node(node)));
    }
  }
}

TEST_CASE("a part numbers what is its own, and says what is elsewhere") {
  const Shape shape = unequal_shape();
  const Schedule part = ring().generate(shape, 1, 0, only_node(1));
  CHECK(part.part.members == NumberRange{2, 4});
  CHECK(part.part.workers == NumberRange{3, 4});
  CHECK(part.input(2) == 0);
  CHECK(part.output(2) == 4);
  CHECK(part.input(1) == kElsewhere);
  CHECK(part.output(6) == kElsewhere);
  for (const Strand& strand : part.strands) CHECK(shape.node_of_worker(strand.worker) == 1);
}

TEST_CASE("neighbouring nodes are a part, too") {
  const Shape shape = Shape::uniform(5, 2, 2);
  const Schedule whole = ring().generate(shape);
  const NumberRange nodes{1, 3};
  CHECK(restricted_to(ring().generate(shape, 1, 0, nodes), nodes) == restricted_to(whole, nodes));
}

TEST_CASE("a generator whose parts are not those of the whole is found") {
  const Shape shape = Shape::uniform(3, 2, 2);
  const Schedule whole = ring().generate(shape);
  const auto right = [&](NumberRange nodes) { return ring().generate(shape, 1, 0, nodes); };
  CHECK_FALSE(check_parts(whole, right));

  const auto other_tag = [&](NumberRange nodes) {
    Schedule part = right(nodes);
    for (Step& step : part.strands[1].steps) {
      if (nodes.holds(2) && step.kind == StepKind::recv) ++step.tag;
    }
    return part;
  };
  const auto wrong = check_parts(whole, other_tag);
  REQUIRE(wrong);
  CHECK(*wrong == "the part of node 2 is not what the whole has there: strand 1 differs");

  const auto no_flag = [&](NumberRange nodes) {
    Schedule part = right(nodes);
    part.flags.pop_back();
    return part;
  };
  CHECK(check_parts(whole, no_flag));
}

TEST_CASE("what is made of a worker that is not what its node's part has is found") {
  const Schedule part = ring().generate(Shape::uniform(1, 3, 3, Visibility::staged));
  const auto right = [&](NumberRange workers) {
    Schedule own = part;
    for (Strand& strand : own.strands) {
      if (!workers.holds(strand.worker)) strand.steps.clear();
    }
    return own;
  };
  CHECK_FALSE(check_workers(part, right));

  const auto other_value = [&](NumberRange workers) {
    Schedule own = right(workers);
    for (Step& step : own.strands[1].steps) {
      if (step.kind == StepKind::wait) ++step.value;
    }
    return own;
  };
  const auto wrong = check_workers(part, other_value);
  REQUIRE(wrong);
  CHECK(*wrong == "what worker 1 does is not what its node has there: strand 1 differs");

  const auto other_place = [&](NumberRange workers) {
    Schedule own = right(workers);
    ++own.buffers.back().first_chunk;
    return own;
  };
  CHECK(check_workers(part, other_place));
}

}  // namespace parts_test
}  // namespace hycoll
