#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/errors.h"
#include "numa/topology.h"
#include "tools/measure/copy_bandwidth.h"
#include "tools/measure/core_latency.h"
#include "tools/measure/machine_state.h"
#include "tools/measure/statistics.h"

namespace hycoll::measure {
namespace {

StateInterval interval(double before_ns, double after_ns) {
  return {.before = {.latency_ns = before_ns, .copy_gb_per_s = 1},
          .after = {.latency_ns = after_ns, .copy_gb_per_s = 1}};
}

TEST_CASE("the median lies in the middle, in any order of the samples") {
  CHECK(median(std::vector<double>{7}) == 7);
  CHECK(median(std::vector<double>{9, 1, 4}) == 4);
  CHECK(median(std::vector<double>{8, 2, 1, 4}) == 3);
}

TEST_CASE("percentiles of 0..n are the fractions of n") {
  for (const int n : {1, 2, 3, 7, 20, 100}) {
    std::vector<double> samples(static_cast<std::size_t>(n) + 1);
    std::iota(samples.rbegin(), samples.rend(), 0.0);
    for (const double fraction : {0.0, 0.05, 0.5, 0.95, 1.0}) {
      CHECK(percentile(samples, fraction) == doctest::Approx(fraction * n));
    }
  }
}

TEST_CASE("a summary agrees with the functions that it summarises") {
  const std::vector<double> samples = {5, 3, 11, 2, 8, 8, 1};
  const Summary summary = summarize(samples);
  CHECK(summary.minimum == 1);
  CHECK(summary.median == median(samples));
  CHECK(summary.p95 == percentile(samples, 0.95));
  CHECK(summary.maximum == 11);
}

TEST_CASE("the geometric mean of a ratio and its inverse is 1") {
  CHECK(geometric_mean(std::vector<double>{4, 0.25}) == doctest::Approx(1));
  CHECK(geometric_mean(std::vector<double>{2, 8}) == doctest::Approx(4));
  CHECK(geometric_mean(std::vector<double>{3}) == doctest::Approx(3));
}

TEST_CASE("statistics refuse what they cannot compute") {
  const std::vector<double> none;
  CHECK_THROWS_AS(median(none), Error);
  CHECK_THROWS_AS(summarize(none), Error);
  CHECK_THROWS_AS(geometric_mean(none), Error);
  CHECK_THROWS_AS(geometric_mean(std::vector<double>{1, 0}), Error);
  CHECK_THROWS_AS(geometric_mean(std::vector<double>{-1}), Error);
  CHECK_THROWS_AS(percentile(std::vector<double>{1}, 1.5), Error);
  CHECK_THROWS_AS(percentile(std::vector<double>{1}, std::numeric_limits<double>::quiet_NaN()),
                  Error);
}

TEST_CASE("clusters begin where the gap is exceeded") {
  CHECK(clusters_by_gap(std::vector<double>{}, 1.5).empty());
  CHECK(clusters_by_gap(std::vector<double>{30, 28, 170, 31, 180}, 1.5) ==
        std::vector<int>{0, 0, 1, 0, 1});
  CHECK(clusters_by_gap(std::vector<double>{1, 1.5}, 1.5) == std::vector<int>{0, 0});
  CHECK(clusters_by_gap(std::vector<double>{1, 1.51}, 1.5) == std::vector<int>{0, 1});
  // Neighbours count, not the ends: a slow drift is one state.
  CHECK(clusters_by_gap(std::vector<double>{1, 1.4, 1.9, 2.6}, 1.5) ==
        std::vector<int>{0, 0, 0, 0});
}

TEST_CASE("a state has changed when the latency differs by more than the factor, in any order") {
  const auto changed = [](double before_ns, double after_ns) {
    const StateInterval both = interval(before_ns, after_ns);
    return state_changed(both.before, both.after);
  };
  CHECK_FALSE(changed(28, 28));
  CHECK_FALSE(changed(28, 42));
  CHECK(changed(28, 43));
  CHECK(changed(170, 28));
  CHECK_FALSE(state_changed({}, {.latency_ns = 28, .copy_gb_per_s = 1}));
}

TEST_CASE("runs are grouped by state, and those that saw a change are left out") {
  const std::vector<StateInterval> runs = {interval(28, 30), interval(170, 165), interval(29, 168),
                                           interval(31, 27), interval(172, 180)};
  const StateGrouping grouping = group_by_state(runs);
  REQUIRE(grouping.groups.size() == 2);
  CHECK(grouping.groups[0].name == "near");
  CHECK(grouping.groups[0].runs == std::vector<std::size_t>{0, 3});
  CHECK(grouping.groups[0].latency_ns == doctest::Approx(29));
  CHECK(grouping.groups[1].name == "far");
  CHECK(grouping.groups[1].runs == std::vector<std::size_t>{1, 4});
  CHECK(grouping.changing_runs == std::vector<std::size_t>{2});
}

TEST_CASE("states of one name are numbered") {
  const std::vector<StateInterval> runs = {interval(400, 410), interval(100, 101)};
  const StateGrouping grouping = group_by_state(runs);
  REQUIRE(grouping.groups.size() == 2);
  CHECK(grouping.groups[0].name == "far");
  CHECK(grouping.groups[0].runs == std::vector<std::size_t>{1});
  CHECK(grouping.groups[1].name == "far 2");
}

TEST_CASE("a latency that only a changing run saw makes no group") {
  const std::vector<StateInterval> runs = {interval(28, 29), interval(28, 170)};
  const StateGrouping grouping = group_by_state(runs);
  REQUIRE(grouping.groups.size() == 1);
  CHECK(grouping.groups[0].runs == std::vector<std::size_t>{0});
  CHECK(grouping.changing_runs == std::vector<std::size_t>{1});
}

TEST_CASE("without latencies all runs are one group") {
  const std::vector<StateInterval> runs(3);
  const StateGrouping grouping = group_by_state(runs);
  REQUIRE(grouping.groups.size() == 1);
  CHECK(grouping.groups[0].name == "single core");
  CHECK(grouping.groups[0].runs.size() == 3);
  CHECK(group_by_state({}).groups.empty());
}

TEST_CASE("the copied vector exceeds the last-level cache, within limits") {
  const auto size_for = [](const char* description) {
    const Topology topology = Topology::synthetic(description);
    return copy_size_bytes(topology, topology.cores().front());
  };
  constexpr std::size_t kMiB = 1 << 20;
  CHECK(size_for("pack:1 l3:1(size=24MiB) core:2") == 48 * kMiB);
  CHECK(size_for("pack:1 l2:2(size=512KiB) core:1") == 16 * kMiB);
  CHECK(size_for("pack:1 l3:1(size=512MiB) core:2") == 64 * kMiB);
}

TEST_CASE("this machine has a latency and a bandwidth, and measuring binds nobody") {
  const Topology topology = Topology::this_machine();
  const MachineState state = measure_machine_state(topology, topology.cores());
  CHECK(std::isfinite(state.copy_gb_per_s));
  CHECK(state.copy_gb_per_s > 0);
  CHECK(state.latency_ns.has_value() == (topology.core_count() > 1));
  if (state.latency_ns) {
    CHECK(std::isfinite(*state.latency_ns));
    CHECK(*state.latency_ns > 0);
  }
  CHECK(Topology::this_machine().affinity() == topology.affinity());
}

TEST_CASE("one core has no latency") {
  const Topology topology = Topology::this_machine();
  const Core core = topology.cores().front();
  CHECK_THROWS_AS(core_latency_ns(topology, core, core), Error);
  const std::vector<Core> twice = {core, core};
  CHECK_FALSE(measure_machine_state(topology, twice).latency_ns.has_value());
}

TEST_CASE("another machine's cores cannot be measured") {
  const Topology topology = Topology::synthetic("pack:1 core:2");
  CHECK_THROWS_AS(core_latency_ns(topology, topology.cores()[0], topology.cores()[1]), Error);
  CHECK_THROWS_AS(copy_bandwidth_gb_per_s(topology, topology.cores()[0]), Error);
}

}  // namespace
}  // namespace hycoll::measure
