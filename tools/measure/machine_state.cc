#include "tools/measure/machine_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/measure/copy_bandwidth.h"
#include "tools/measure/core_latency.h"
#include "tools/measure/statistics.h"

namespace hycoll::measure {
namespace {

constexpr std::size_t kMaximumPairs = 7;

StateGrouping one_group(std::span<const StateInterval> runs) {
  StateGrouping grouping;
  if (runs.empty()) return grouping;
  grouping.groups.push_back({.name = "single core", .latency_ns = 0, .runs = {}});
  for (std::size_t run = 0; run < runs.size(); ++run) grouping.groups[0].runs.push_back(run);
  return grouping;
}

/// Gives every group its latency and its name.
void describe_groups(std::span<const double> latencies_ns, StateGrouping& grouping) {
  std::map<std::string, int> used;
  for (StateGroup& group : grouping.groups) {
    std::vector<double> of_group;
    for (const std::size_t run : group.runs) {
      of_group.push_back(latencies_ns[2 * run]);
      of_group.push_back(latencies_ns[2 * run + 1]);
    }
    group.latency_ns = median(of_group);
    const std::string name = group.latency_ns < kNearLatencyNs ? "near" : "far";
    const int number = ++used[name];
    group.name = number == 1 ? name : fmt::format("{} {}", name, number);
  }
}

}  // namespace

MachineState measure_machine_state(const Topology& topology, std::span<const Core> cores) {
  MachineState state;
  std::vector<double> latencies_ns;
  for (std::size_t i = 1; i < cores.size() && latencies_ns.size() < kMaximumPairs; ++i) {
    if (cores[i].index == cores[0].index) continue;
    latencies_ns.push_back(core_latency_ns(topology, cores[0], cores[i]));
  }
  if (!latencies_ns.empty()) state.latency_ns = median(latencies_ns);
  state.copy_gb_per_s = copy_bandwidth_gb_per_s(topology, cores[0]);
  return state;
}

bool state_changed(const MachineState& before, const MachineState& after) {
  if (!before.latency_ns || !after.latency_ns) return false;
  const auto [low, high] = std::minmax(*before.latency_ns, *after.latency_ns);
  return high > kStateChangeFactor * low;
}

StateGrouping group_by_state(std::span<const StateInterval> runs) {
  std::vector<double> latencies_ns;
  for (const StateInterval& run : runs) {
    if (!run.before.latency_ns || !run.after.latency_ns) return one_group(runs);
    latencies_ns.push_back(*run.before.latency_ns);
    latencies_ns.push_back(*run.after.latency_ns);
  }
  const std::vector<int> clusters = clusters_by_gap(latencies_ns, kStateChangeFactor);
  std::map<int, StateGroup> groups;
  StateGrouping grouping;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (clusters[2 * run] == clusters[2 * run + 1]) {
      groups[clusters[2 * run]].runs.push_back(run);
    } else {
      grouping.changing_runs.push_back(run);
    }
  }
  for (auto& [cluster, group] : groups) grouping.groups.push_back(std::move(group));
  describe_groups(latencies_ns, grouping);
  return grouping;
}

}  // namespace hycoll::measure
