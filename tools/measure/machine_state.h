#ifndef HYCOLL_TOOLS_MEASURE_MACHINE_STATE_H_
#define HYCOLL_TOOLS_MEASURE_MACHINE_STATE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "numa/topology/topology.h"

namespace hycoll::measure {

/// What changes on a shared or virtual machine from one minute to the next, and with it every other
/// measurement.
struct MachineState {
  /// Between the workers' cores, one way: the median over the pairs of the first core and up to 7
  /// others. Empty with a single core.
  std::optional<double> latency_ns;
  double copy_gb_per_s = 0;  ///< Of the first core.
};

/// Measures both; takes about 0.1 s. The cores must be idle. Requires at least one core; two of
/// them may be the same. Errors: as core_latency_ns and copy_bandwidth_gb_per_s.
MachineState measure_machine_state(const Topology& topology, std::span<const Core> cores);

/// Two latencies belong to different states of the machine when they differ by more than this
/// factor.
inline constexpr double kStateChangeFactor = 1.5;

/// Below this one-way latency cores are called near: they share a cache.
inline constexpr double kNearLatencyNs = 80;

/// Whether the machine changed its state between two measurements. False without latencies.
bool state_changed(const MachineState& before, const MachineState& after);

/// One run, between two measurements of the machine.
struct StateInterval {
  MachineState before;
  MachineState after;
};

/// A state that the machine was in during some runs.
struct StateGroup {
  std::string name;               ///< "near", "far", "far 2", ...; "single core" without latencies.
  double latency_ns = 0;          ///< The median over its runs; 0 without latencies.
  std::vector<std::size_t> runs;  ///< Indices, ascending.
};

struct StateGrouping {
  std::vector<StateGroup> groups;          ///< By ascending latency.
  std::vector<std::size_t> changing_runs;  ///< The state changed during these: not to be compared.
};

/// Sorts runs by the state of the machine. The rule: all latencies, those before and those after,
/// are sorted; where one is more than kStateChangeFactor times the one below it, a new state
/// begins. A run belongs to a state if both its latencies do. A state is called near when its
/// median latency is below kNearLatencyNs, far otherwise, and numbered when there are several of
/// the name.
StateGrouping group_by_state(std::span<const StateInterval> runs);

}  // namespace hycoll::measure

#endif  // HYCOLL_TOOLS_MEASURE_MACHINE_STATE_H_
