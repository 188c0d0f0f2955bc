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

/// The latency alone: some milliseconds at most. Empty with a single core.
std::optional<double> measure_latency_ns(const Topology& topology, std::span<const Core> cores);

/// Two latencies belong to different states of the machine when they differ by more than this
/// factor.
inline constexpr double kStateChangeFactor = 1.5;

/// Below this one-way latency cores are called near: they share a cache.
inline constexpr double kNearLatencyNs = 80;

/// The latency before and after something; empty with a single core.
struct LatencyInterval {
  std::optional<double> before_ns;
  std::optional<double> after_ns;
};

/// Whether the machine changed its state between two measurements. False without latencies.
bool state_changed(const LatencyInterval& latency);

/// Two measurements of the machine, before and after something.
struct StateInterval {
  MachineState before;
  MachineState after;

  LatencyInterval latency() const noexcept { return {before.latency_ns, after.latency_ns}; }
};

/// A state that the machine was in.
struct NamedState {
  std::string name;       ///< "near", "far", "far 2", ...; "single core" without latencies.
  double latency_ns = 0;  ///< The median; 0 without latencies.
  double lowest_ns = 0;
  double highest_ns = 0;
};

/// The states that a machine was in, by ascending latency.
class MachineStates {
 public:
  /// From all latencies that were measured. The rule: latencies that hardly any other resembles
  /// (fewer than 3 % of all lie within a tenth) were measured while the state changed, and belong
  /// to none. The others are sorted; where one is more than kStateChangeFactor times the one below
  /// it, a new state begins. A state is called near when its median is below kNearLatencyNs, far
  /// otherwise, and numbered when there are several of the name. Without latencies there is one
  /// state, the single core's.
  explicit MachineStates(std::span<const double> latencies_ns);

  const std::vector<NamedState>& all() const noexcept { return states_; }

  /// The index of the state that a latency belongs to; empty if to none.
  std::optional<std::size_t> state_of(std::optional<double> latency_ns) const;

  /// The state that both latencies belong to; empty if there is none.
  std::optional<std::size_t> state_of(const LatencyInterval& latency) const;

 private:
  std::vector<NamedState> states_;
};

}  // namespace hycoll::measure

#endif  // HYCOLL_TOOLS_MEASURE_MACHINE_STATE_H_
