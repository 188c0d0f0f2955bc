#include "core/drawing/turns_timeline.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string_view>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/schedule/schedule_text.h"
#include "tests/core/verifier/examples.h"

namespace hycoll {
namespace turns_timeline_test {

/// Costs that are distinct for most steps, from a generator with this seed.
std::vector<StepCost> random_costs(const ScheduleWalk& walk, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> units(0, 1000);
  std::vector<StepCost> costs;
  for (int id = 0; id < walk.index.step_count(); ++id) {
    const double busy = units(random);
    const bool travels = is_asynchronous(walk.index.step(id).kind);
    costs.push_back({.busy = busy, .transfer = travels ? 5.0 * units(random) : 0.0});
  }
  return costs;
}

std::function<StepCost(const Step&)> cost_function(const ScheduleWalk& walk,
                                                   const std::vector<StepCost>& costs) {
  return [&walk, &costs](const Step& step) {
    for (int id = 0; id < walk.index.step_count(); ++id) {
      if (&walk.index.step(id) == &step) return costs[static_cast<std::size_t>(id)];
    }
    FAIL("a step of another schedule");
    return StepCost{};
  };
}

/// What a worker does.
struct Work {
  double begin;
  double end;
};

std::vector<std::vector<Work>> work_of_workers(const ScheduleWalk& walk, const Timeline& timeline,
                                               const std::vector<StepCost>& costs) {
  const Schedule& schedule = walk.index.schedule;
  std::vector<std::vector<Work>> workers(static_cast<std::size_t>(schedule.shape.worker_count()));
  for (std::size_t id = 0; id < costs.size(); ++id) {
    const auto strand = static_cast<std::size_t>(walk.index.place[id].strand);
    const auto worker = static_cast<std::size_t>(schedule.strands[strand].worker);
    workers[worker].push_back({timeline.issue[id], timeline.issue[id] + costs[id].busy});
  }
  for (auto& worker : workers) std::ranges::sort(worker, {}, &Work::begin);
  return workers;
}

/// The examples, and schedules of several strands for a worker.
std::vector<Schedule> schedules() {
  std::vector<Schedule> all = testing::all_examples();
  const auto add = [&](std::string_view name, const Shape& shape, int segments) {
    all.push_back(find_algorithm(Collective::allreduce, name).generate(shape, segments));
  };
  add("dpml-pipelined-ring", Shape::uniform(3, 2, 2), 3);
  add("dpml-pipelined-native", Shape::uniform(2, 2, 2), 3);
  add("dpml-recursive-doubling", Shape({{2, 2}, {1, 1}}, 3), 1);
  add("colour-rings", Shape::uniform(4, 3, 3), 2);
  add("node-leader", Shape({{2, 2}, {2, 2}, {0, 1}}, 1), 3);
  return all;
}

bool has_one_strand_per_worker(const Schedule& schedule) {
  return schedule.strands.size() == static_cast<std::size_t>(schedule.shape.worker_count());
}

TEST_CASE("a worker does one thing at a time, and nothing before what it waits for") {
  for (const Schedule& schedule : schedules()) {
    const ScheduleWalk walk(schedule);
    for (const unsigned seed : {1u, 2u, 3u}) {
      INFO(schedule.algorithm << " on " << to_text(schedule.shape) << ", seed " << seed);
      const std::vector<StepCost> costs = random_costs(walk, seed);
      const Timeline turns = compute_turns_timeline(walk, cost_function(walk, costs));
      const Timeline free = compute_timeline(walk, cost_function(walk, costs));
      CHECK(turns.end >= free.end);
      for (std::size_t id = 0; id < costs.size(); ++id) {
        CHECK(turns.ready[id] <= turns.issue[id]);
        CHECK(turns.issue[id] >= free.issue[id]);
        CHECK(turns.completion[id] >= free.completion[id]);
      }
      for (const std::vector<Work>& worker : work_of_workers(walk, turns, costs)) {
        for (std::size_t i = 1; i < worker.size(); ++i) {
          CHECK(worker[i].begin >= worker[i - 1].end);
        }
      }
    }
  }
}

TEST_CASE("with one strand for each worker nothing changes") {
  int count = 0;
  for (const Schedule& schedule : schedules()) {
    if (!has_one_strand_per_worker(schedule)) continue;
    ++count;
    CAPTURE(schedule.algorithm);
    const ScheduleWalk walk(schedule);
    const std::vector<StepCost> costs = random_costs(walk, 4);
    const Timeline turns = compute_turns_timeline(walk, cost_function(walk, costs));
    const Timeline free = compute_timeline(walk, cost_function(walk, costs));
    CHECK(turns.ready == free.ready);
    CHECK(turns.issue == free.issue);
    CHECK(turns.completion == free.completion);
    CHECK(turns.end == free.end);
  }
  CHECK(count > 10);
}

TEST_CASE("a strand goes on until it has to wait, then the next one does") {
  // 2 nodes of 1 member, 3 parts by recursive doubling. A worker receives and sends its first part,
  // then the second and the third; each is reduced when the peer's is there.
  const Schedule schedule =
      find_algorithm(Collective::allreduce, "dpml-pipelined-recursive-doubling")
          .generate(Shape::uniform(2, 1, 1), 3);
  const ScheduleWalk walk(schedule);
  const auto costs = [](double transfer) {
    return [transfer](const Step& step) {
      const bool works = step.kind == StepKind::send || step.kind == StepKind::reduce;
      return StepCost{.busy = works ? 10.0 : 0.0,
                      .transfer = is_asynchronous(step.kind) ? transfer : 0.0};
    };
  };
  const auto issues = [&](double transfer, StepKind kind) {
    const Timeline timeline = compute_turns_timeline(walk, costs(transfer));
    std::vector<double> times;
    for (int id = 0; id < walk.index.step_count(); ++id) {
      const int strand = walk.index.place[static_cast<std::size_t>(id)].strand;
      const bool counts = walk.index.strand_node[static_cast<std::size_t>(strand)] == 0 &&
                          walk.index.step(id).kind == kind;
      if (counts) times.push_back(timeline.issue[static_cast<std::size_t>(id)]);
    }
    std::ranges::sort(times);
    return times;
  };
  // All are sent while the first is under way.
  CHECK(issues(100, StepKind::send) == std::vector<double>{0, 10, 20});
  CHECK(issues(100, StepKind::reduce) == std::vector<double>{110, 120, 130});
  // The first arrives meanwhile, and is reduced when every strand has had its turn.
  CHECK(issues(1, StepKind::send) == std::vector<double>{0, 10, 20});
  CHECK(issues(1, StepKind::reduce) == std::vector<double>{30, 40, 50});
}

}  // namespace turns_timeline_test
}  // namespace hycoll
