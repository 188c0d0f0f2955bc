// What hycoll bench plans stands on: counted allocations, processes of their own, costs of plans.
#include "tools/command/costs/plan_cost.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/errors.h"
#include "core/schedule/part_checks.h"
#include "tools/command/costs/allocations.h"
#include "tools/command/line/isolated_run.h"

namespace hycoll::command {
namespace {

using std::chrono::seconds;

/// A compiler must not leave out what is released again.
[[gnu::noinline]] std::unique_ptr<std::vector<char>> allocate(std::size_t size_bytes) {
  return std::make_unique<std::vector<char>>(size_bytes);
}

TEST_CASE("allocations are counted, and their peak") {
  const AllocationCount count(1 << 20);
  auto stays = allocate(10'000);
  allocate(50'000).reset();
  CHECK(count.present_bytes() >= 10'000);
  CHECK(count.present_bytes() < 11'000);
  CHECK(count.peak_bytes() >= 60'000);
  CHECK(count.peak_bytes() < 61'000);
  stays.reset();
  CHECK(count.present_bytes() == 0);
}

TEST_CASE("what is over-aligned is counted too") {
  struct alignas(64) Line {
    char bytes[64];
  };
  const AllocationCount count(1 << 20);
  std::vector<Line> lines(16);
  CHECK(count.present_bytes() >= sizeof(Line) * 16);
  lines = {};
  lines.shrink_to_fit();
  CHECK(count.present_bytes() == 0);
}

TEST_CASE("what was there before may be released while allocations are counted") {
  auto before = allocate(10'000);
  const AllocationCount count(1 << 20);
  before.reset();
  CHECK(count.present_bytes() == 0);
  CHECK(count.peak_bytes() == 0);
}

TEST_CASE("no more is allocated than the limit") {
  const AllocationCount count(100'000);
  const auto most = allocate(90'000);
  CHECK_THROWS_AS(allocate(20'000), std::bad_alloc);
  CHECK(count.present_bytes() < 100'000);
  CHECK(count.peak_bytes() < 100'000);
}

TEST_CASE("a process of its own returns a text, whatever its length, and changes nothing here") {
  int here = 1;
  const std::string text(300'000, 'x');
  const IsolatedRun run = run_isolated(
      [&] {
        here = 2;
        return text;
      },
      seconds(60));
  CHECK(run.end == IsolatedRun::End::returned);
  CHECK(run.text == text);
  CHECK(here == 1);
}

TEST_CASE("a process of its own is stopped when patience has passed") {
  const IsolatedRun run = run_isolated(
      [] {
        std::this_thread::sleep_for(seconds(1000));
        return std::string("late");
      },
      std::chrono::milliseconds(20));
  CHECK(run.end == IsolatedRun::End::timed_out);
  CHECK(run.text == "");
}

TEST_CASE("a process of its own may die") {
  const IsolatedRun run = run_isolated(
      [] {
        raise(SIGKILL);
        return std::string("dead");
      },
      seconds(60));
  CHECK(run.end == IsolatedRun::End::died);
  CHECK(run.signal == SIGKILL);
}

const PlanBounds kPatient = {.patience = seconds(60)};

TEST_CASE("own steps are those that the node has in the whole schedule") {
  for (const char* algorithm : {"dpml-ring", "single-leader-recursive-doubling"}) {
    for (const int node : {0, 3, 6}) {
      CAPTURE(algorithm);
      CAPTURE(node);
      const PlanTask task{.algorithm = algorithm,
                          .nodes = 7,
                          .members = 2,
                          .lanes = 1,
                          .size_bytes = 4096,
                          .node = node};
      const PlanMeasurement found = measure_plan(task, kPatient);
      REQUIRE(found.cost);
      const Schedule whole =
          find_algorithm(Collective::allreduce, algorithm).generate(Shape::uniform(7, 2, 1));
      CHECK(found.cost->own_steps == restricted_to(whole, only_node(node)).step_count());
      CHECK(found.cost->repetitions >= 1);
      CHECK(found.cost->kept_bytes < found.cost->memory_bytes);
    }
  }
}

TEST_CASE("limits grow with the own steps") {
  CHECK(most_seconds(0) == doctest::Approx(1e-3));
  CHECK(most_seconds(10'000) == doctest::Approx(3e-3));
  CHECK(most_memory_bytes(0) == 65'536);
  CHECK(most_memory_bytes(10) == 67'536);
  PlanCost cost{.own_steps = 10, .seconds = 1e-3, .memory_bytes = 67'536};
  CHECK(is_within_limits(cost));
  cost.memory_bytes = 67'537;
  CHECK(!is_within_limits(cost));
  cost.memory_bytes = 0;
  cost.seconds = 1.1e-3;
  CHECK(!is_within_limits(cost));
}

TEST_CASE("a plan that exceeds a bound is stopped, and one that cannot be bound refused") {
  PlanTask task{.algorithm = "dpml-ring",
                .nodes = 64,
                .members = 2,
                .lanes = 1,
                .size_bytes = 4096,
                .node = 9};
  CHECK(measure_plan(task, {.patience = seconds(60), .memory_bytes = 4096}).stopped == "at 4Ki");
  task.algorithm = "ring";  // of one member on every node
  CHECK_THROWS_AS(selected_for(task), Error);
  const PlanMeasurement found = measure_plan(task, kPatient);
  CHECK(!found.cost);
  CHECK(found.stopped == "");
  CHECK(found.refused.find("'ring'") != std::string::npos);
}

}  // namespace
}  // namespace hycoll::command
