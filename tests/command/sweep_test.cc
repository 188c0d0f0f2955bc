#include "tools/command/proving/sweep.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll::command {
namespace sweep_test {

SweepOptions small_options() {
  return {.node_counts = {1, 2, 3},
          .member_counts = {1, 2, 3},
          .lane_counts = {1, 2},
          .unequal_nodes = UnequalNodes::include};
}

bool is_unequal(const Shape& shape) {
  for (int node = 1; node < shape.node_count(); ++node) {
    if (shape.node(node) != shape.node(0)) return true;
  }
  return false;
}

TEST_CASE("the shapes of a sweep are different from one another") {
  const std::vector<Shape> shapes = sweep_shapes(small_options());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    CHECK(std::count(shapes.begin(), shapes.end(), shapes[i]) == 1);
  }
}

TEST_CASE("equal nodes and pools are there for every node, member and lane count") {
  const SweepOptions options = small_options();
  const std::vector<Shape> shapes = sweep_shapes(options);
  for (const int nodes : options.node_counts) {
    for (const int members : options.member_counts) {
      for (const int lanes : options.lane_counts) {
        const Shape equal = Shape::uniform(nodes, members, lanes);
        const Shape pool(std::vector<Node>(static_cast<std::size_t>(nodes), Node{1, members}),
                         lanes);
        CHECK(std::find(shapes.begin(), shapes.end(), equal) != shapes.end());
        CHECK(std::find(shapes.begin(), shapes.end(), pool) != shapes.end());
      }
    }
  }
}

TEST_CASE("unequal nodes are there when asked for, with helpers and moved lanes among them") {
  SweepOptions options = small_options();
  const std::vector<Shape> shapes = sweep_shapes(options);
  CHECK(std::any_of(shapes.begin(), shapes.end(), is_unequal));
  CHECK(std::any_of(shapes.begin(), shapes.end(), [](const Shape& shape) {
    return is_unequal(shape) && shape.node(1).workers > shape.node(1).members;
  }));
  CHECK(std::any_of(shapes.begin(), shapes.end(), [](const Shape& shape) {
    return is_unequal(shape) && shape.leader(1, 0) != shape.first_worker(1);
  }));
  options.unequal_nodes = UnequalNodes::exclude;
  const std::vector<Shape> equal_only = sweep_shapes(options);
  CHECK(std::none_of(equal_only.begin(), equal_only.end(), is_unequal));
  CHECK(equal_only.size() < shapes.size());
}

TEST_CASE("every algorithm of every collective is swept, those that cut also with segments") {
  const std::vector<SweepCase> cases = sweep_cases(small_options());
  std::set<const Algorithm*> whole;
  std::set<const Algorithm*> cut;
  for (const SweepCase& proof : cases) {
    CHECK(proof.algorithm->serves_shape(proof.shape.with_visibility(Visibility::direct)));
    (proof.segments == 1 ? whole : cut).insert(proof.algorithm);
  }
  for (const Algorithm* algorithm : all_algorithms()) {
    CAPTURE(name_of(algorithm->collective));
    CAPTURE(algorithm->name);
    CHECK(whole.contains(algorithm));
    CHECK(cut.contains(algorithm) == (algorithm->segmentation != Segmentation::none));
  }
}

TEST_CASE("roots are the first, the middle and the last member; most collectives have none") {
  std::set<int> roots;
  for (const SweepCase& proof : sweep_cases(small_options())) {
    CHECK(proof.root < proof.shape.member_count());
    if (!has_root(proof.algorithm->collective)) {
      CHECK(proof.root == 0);
    } else if (proof.shape.member_count() == 9) {
      roots.insert(proof.root);
    }
  }
  CHECK(roots == std::set<int>{0, 4, 8});
}

TEST_CASE(
    "staged schedules of every algorithm are swept, on fewer shapes unless they are asked for") {
  SweepOptions options = small_options();
  const auto staged_count = [&] {
    std::set<const Algorithm*> algorithms;
    std::set<const Algorithm*> with_threads;
    std::ptrdiff_t count = 0;
    for (const SweepCase& proof : sweep_cases(options)) {
      if (proof.shape.visibility() != Visibility::staged) continue;
      algorithms.insert(proof.algorithm);
      if (!proof.shape.processes().is_one_each()) with_threads.insert(proof.algorithm);
      ++count;
    }
    CHECK((count == 0 || options.visibility || with_threads.size() == all_algorithms().size()));
    CHECK((count == 0 || algorithms.size() == all_algorithms().size()));
    return count;
  };
  const std::ptrdiff_t some = staged_count();
  options.visibility = Visibility::direct;
  const std::size_t direct = sweep_cases(options).size();
  CHECK(staged_count() == 0);
  options.visibility = Visibility::staged;
  CHECK(std::cmp_equal(staged_count(), direct));
  CHECK(some > 0);
  CHECK(std::cmp_less(some, direct));
}

TEST_CASE("one collective or algorithm is swept when it is named, and an unknown one refused") {
  SweepOptions options = small_options();
  options.collective = Collective::allreduce;
  for (const Algorithm* algorithm : sweep_algorithms(options)) {
    CHECK(algorithm->collective == Collective::allreduce);
  }
  CHECK(sweep_algorithms(options).size() == algorithms_of(Collective::allreduce).size());
  options.algorithm = "dpml-ring";
  for (const SweepCase& proof : sweep_cases(options)) CHECK(proof.algorithm->name == "dpml-ring");
  options.algorithm = "dpml-rings";
  CHECK_THROWS_AS(sweep_cases(options), Error);
  options.collective.reset();
  CHECK_THROWS_AS(sweep_cases(options), Error);
}

TEST_CASE("a sweep counts what it proves") {
  SweepOptions options = small_options();
  options.collective = Collective::allreduce;
  options.algorithm = "lines-recursive-doubling";
  const std::vector<SweepCase> cases = sweep_cases(options);
  std::atomic<std::size_t> done{0};
  const SweepResult result = run_sweep(cases, [&](std::size_t count) { done.fetch_add(count); });
  CHECK(done == cases.size());
  CHECK_FALSE(result.failure.has_value());
  REQUIRE(result.proved.size() == 1);
  CHECK(result.proved[0].collective == "allreduce");
  CHECK(result.proved[0].schedule_count == cases.size());
  std::size_t steps = 0;
  for (const SweepCase& proof : cases) {
    steps += proof.generate().step_count();
  }
  CHECK(result.proved[0].step_count == steps);
}

/// Right for one member only: everybody keeps its own input.
Schedule generate_wrong(std::string name, const Shape& shape, const GeneratorParameters&) {
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape, 1);
  for (int member = 0; member < shape.member_count(); ++member) {
    builder.copy(builder.main_strand(shape.worker_of_member(member)),
                 span_of(builder.output(member), builder.all_chunks()),
                 span_of(builder.input(member), builder.all_chunks()));
  }
  return std::move(builder).finish();
}

TEST_CASE("the first failure in the order of the cases is reported") {
  const Algorithm wrong{.collective = Collective::allreduce,
                        .name = "wrong",
                        .summary = "",
                        .source = "",
                        .order = OperandOrder::any,
                        .exchange = {},
                        .serves = "",
                        .serves_shape = [](const Shape&) { return true; },
                        .generate_with = generate_wrong,
                        .segmentation = Segmentation::none};
  std::vector<SweepCase> cases;
  for (int members = 1; members <= 40; ++members) {
    cases.push_back({.algorithm = &wrong, .shape = Shape::uniform(1, members, 1), .segments = 1});
  }
  for (int repetition = 0; repetition < 20; ++repetition) {
    const SweepResult result = run_sweep(cases, [](std::size_t) {});
    REQUIRE(result.failure.has_value());
    CHECK(result.failure->find("1 node x 2 members") != std::string::npos);
    CHECK(result.proved.empty());
  }
}

}  // namespace sweep_test
}  // namespace hycoll::command
