#include "core/simulation/simulated_machine.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/drawing/chrome_trace.h"
#include "core/drawing/critical_path.h"
#include "core/simulation/shared_memory.h"
#include "tests/core/simulation/simulated.h"

namespace hycoll {
namespace simulated_machine_test {

/// Every flow is as fast as its endpoint: by itself it takes no time.
class FreeNetwork final : public FlowNetwork {
 public:
  int host_count() const override { return 9; }
  std::string host_name(int host) const override { return std::to_string(host); }
  double latency_us(int, int) override { return latency; }
  void reset() override {}
  void begin(const Flow& flow, double time_us) override { ends_.push_back({flow.id, time_us}); }
  std::optional<FlowEnd> next(double until_us) override {
    const auto first = std::ranges::min_element(ends_, {}, &FlowEnd::time_us);
    if (first == ends_.end() || first->time_us > until_us) return {};
    const FlowEnd end = *first;
    ends_.erase(first);
    return end;
  }
  std::vector<LinkUse> link_uses() override { return {}; }

  double latency = 0;

 private:
  std::vector<FlowEnd> ends_;
};

Schedule schedule_of(Collective collective, std::string_view algorithm, const Shape& shape,
                     int segments = 1) {
  return find_algorithm(collective, algorithm).generate(shape, segments);
}

TEST_CASE("without contention the simulation takes what the walk takes") {
  FreeNetwork network;
  check_agreement(network);
}

TEST_CASE("links on the way add their latencies to every message") {
  FreeNetwork network;
  const Schedule schedule =
      schedule_of(Collective::allreduce, "recursive-doubling", Shape::uniform(8, 1, 1));
  const Platform platform = star(8);
  const double near = simulated_us(schedule, 4000, platform, network);
  network.latency = 2;
  CHECK(simulated_us(schedule, 4000, platform, network) == doctest::Approx(near + 3 * 2));
}

TEST_CASE("nodes on one host exchange through its memory") {
  FreeNetwork network;
  const Schedule schedule =
      schedule_of(Collective::allreduce, "recursive-doubling", Shape::uniform(2, 1, 1));
  MachinePrices prices = kRoundPrices;
  prices.bandwidth_gb_per_s = 0.1;
  const Platform platform = star(2, prices);
  const auto time_on = [&](const std::vector<int>& hosts) {
    SimulatedMachine machine(platform, schedule.shape, hosts, network);
    return PricedSchedule(schedule).walk_us(4000, prices, machine);
  };
  CHECK(time_on({0, 1}) == doctest::Approx(10 + 40 + 4));
  CHECK(time_on({1, 1}) == doctest::Approx(0.5 + 4 + 4));
}

TEST_CASE("workers of a domain share its memory, and those of another domain have their own") {
  FreeNetwork network;
  const Schedule schedule =
      schedule_of(Collective::allreduce, "dpml-recursive-doubling", Shape::uniform(1, 4, 4));
  // Each reduces 3 further operands of a quarter, and copies the quarter to 3 others.
  MachinePrices prices = kRoundPrices;
  Platform platform = star(1, prices);
  CHECK(simulated_us(schedule, 8000, platform, network) == doctest::Approx(0.5 + 6 * 2 + 0.5));
  platform.prices.memory_gb_per_s = 2;
  CHECK(simulated_us(schedule, 8000, platform, network) == doctest::Approx(0.5 + 6 * 4 + 0.5));
  platform.host.domains = 2;
  // Half of the memory for half of the workers, and signals cross domains.
  CHECK(simulated_us(schedule, 8000, platform, network) ==
        doctest::Approx(0.5 * 110 / 80 + 6 * 4 + 0.5 * 110 / 80));
  platform.host = {.packages = 2, .domains = 1, .cores = 2};
  CHECK(simulated_us(schedule, 8000, platform, network) ==
        doctest::Approx(0.5 * 200 / 80 + 6 * 4 + 0.5 * 200 / 80));
}

TEST_CASE("a host needs a core for every worker") {
  FreeNetwork network;
  Platform platform = star(1);
  platform.host.cores = 3;
  const Schedule schedule =
      schedule_of(Collective::allreduce, "dpml-recursive-doubling", Shape::uniform(1, 4, 4));
  CHECK_THROWS_WITH_AS(simulated_us(schedule, 8, platform, network),
                       doctest::Contains("4 workers on a host of 3 cores"), Error);
}

TEST_CASE("memory is shared by max-min fairness") {
  SharedMemory memory(2, 10);
  // Who can move 2 leaves 4 each for the others.
  memory.begin({.id = 1, .domain = 0, .size_bytes = 20, .most_bytes_per_us = 2}, 0);
  memory.begin({.id = 2, .domain = 0, .size_bytes = 20, .most_bytes_per_us = 100}, 0);
  memory.begin({.id = 3, .domain = 0, .size_bytes = 44, .most_bytes_per_us = 100}, 0);
  memory.begin({.id = 4, .domain = 1, .size_bytes = 10, .most_bytes_per_us = 100}, 0);
  const auto check_next = [&](int id, double time_us) {
    CHECK(memory.next_time_us() == doctest::Approx(time_us));
    CHECK(memory.finish_next().id == id);
  };
  check_next(4, 1);
  check_next(2, 5);
  // 24 are left of the third, which gets 8 from then on.
  check_next(3, 8);
  check_next(1, 10);
  CHECK(memory.next_time_us() == std::numeric_limits<double>::infinity());
}

TEST_CASE("the critical path goes from the beginning to the end without a gap") {
  FreeNetwork network;
  for (const ComparedCall& call : calls_without_contention()) {
    const Schedule schedule = schedule_of(call.collective, call.algorithm, call.shape);
    Platform platform = star(9);
    platform.prices.memory_gb_per_s = 1.5;
    platform.prices.gap_us = 0.1;
    WalkRecord record;
    const double time_us = simulated_us(schedule, 4096, platform, network, &record);
    const std::vector<Stretch> path = critical_path(PricedSchedule(schedule), record);
    CAPTURE(call.algorithm);
    REQUIRE(!path.empty());
    double end = 0;
    for (const Stretch& stretch : path) {
      CHECK(stretch.begin_us == doctest::Approx(end));
      CHECK(stretch.end_us > stretch.begin_us);
      end = stretch.end_us;
    }
    CHECK(end == doctest::Approx(time_us));
  }
}

TEST_CASE("the critical path of recursive doubling is messages and reductions in turn") {
  FreeNetwork network;
  const Schedule schedule =
      schedule_of(Collective::allreduce, "recursive-doubling", Shape::uniform(4, 1, 1));
  WalkRecord record;
  simulated_us(schedule, 4000, star(4), network, &record);
  std::string kinds;
  for (const Stretch& stretch : critical_path(PricedSchedule(schedule), record)) {
    kinds += std::string(name_of(stretch.kind)) + " ";
  }
  CHECK(kinds == "message reduce message reduce ");
}

TEST_CASE("a trace has an event for each step that takes time, and two for each message") {
  FreeNetwork network;
  const Schedule schedule =
      schedule_of(Collective::allreduce, "recursive-doubling", Shape::uniform(2, 1, 1));
  WalkRecord record;
  simulated_us(schedule, 4000, star(2), network, &record);
  const std::string trace = chrome_trace(PricedSchedule(schedule), record);
  const auto count_of = [&](std::string_view part) {
    int count = 0;
    for (std::size_t at = 0; (at = trace.find(part, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  CHECK(count_of("\"name\":\"reduce\"") == 2);
  CHECK(count_of("\"name\":\"send\"") == 2);
  CHECK(count_of("\"ph\":\"b\"") == 2);
  CHECK(count_of("\"ph\":\"e\"") == 2);
}

}  // namespace simulated_machine_test
}  // namespace hycoll
