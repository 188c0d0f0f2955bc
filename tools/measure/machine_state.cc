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
/// Enough to tell states apart, in less than a millisecond for a pair of idle cores.
constexpr HandoffRounds kLook{.batches = 9, .round_trips_per_batch = 100};
/// Latencies of one state resemble one another: this share of all lies within this factor.
constexpr double kResemblance = 1.1;
constexpr double kLeastShare = 0.03;

/// Those of ascending latencies that enough others resemble.
std::vector<double> frequent(const std::vector<double>& sorted) {
  std::vector<double> kept;
  auto low = sorted.begin();
  auto high = sorted.begin();
  for (const double latency : sorted) {
    while (*low * kResemblance < latency) ++low;
    while (high != sorted.end() && *high <= kResemblance * latency) ++high;
    const auto alike = static_cast<double>(high - low);
    if (alike >= kLeastShare * static_cast<double>(sorted.size())) kept.push_back(latency);
  }
  return kept;
}

/// Names the states, which are ascending.
void name_states(std::vector<NamedState>& states) {
  std::map<std::string, int> used;
  for (NamedState& state : states) {
    const std::string name = state.latency_ns < kNearLatencyNs ? "near" : "far";
    const int number = ++used[name];
    state.name = number == 1 ? name : fmt::format("{} {}", name, number);
  }
}

}  // namespace

std::optional<double> measure_latency_ns(const Topology& topology, std::span<const Core> cores) {
  std::vector<double> latencies_ns;
  for (std::size_t i = 1; i < cores.size() && latencies_ns.size() < kMaximumPairs; ++i) {
    if (cores[i].index == cores[0].index) continue;
    latencies_ns.push_back(core_latency_ns(topology, cores[0], cores[i], kLook));
  }
  if (latencies_ns.empty()) return std::nullopt;
  return median(latencies_ns);
}

MachineState measure_machine_state(const Topology& topology, std::span<const Core> cores) {
  return {.latency_ns = measure_latency_ns(topology, cores),
          .copy_gb_per_s = copy_bandwidth_gb_per_s(topology, cores[0])};
}

bool state_changed(const LatencyInterval& latency) {
  if (!latency.before_ns || !latency.after_ns) return false;
  const auto [low, high] = std::minmax(*latency.before_ns, *latency.after_ns);
  return high > kStateChangeFactor * low;
}

MachineStates::MachineStates(std::span<const double> latencies_ns) {
  if (latencies_ns.empty()) {
    states_.push_back({.name = "single core"});
    return;
  }
  std::vector<double> sorted(latencies_ns.begin(), latencies_ns.end());
  std::sort(sorted.begin(), sorted.end());
  const std::vector<double> latencies = frequent(sorted);
  for (auto first = latencies.begin(); first != latencies.end();) {
    auto end = first + 1;
    while (end != latencies.end() && *end <= kStateChangeFactor * end[-1]) ++end;
    states_.push_back({.name = {},
                       .latency_ns = median(std::span(first, end)),
                       .lowest_ns = *first,
                       .highest_ns = end[-1]});
    first = end;
  }
  name_states(states_);
}

std::optional<std::size_t> MachineStates::state_of(std::optional<double> latency_ns) const {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const bool single_core = states_[i].latency_ns == 0;
    if (latency_ns.has_value() == single_core) continue;
    if (single_core || (*latency_ns * kResemblance >= states_[i].lowest_ns &&
                        *latency_ns <= kResemblance * states_[i].highest_ns)) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> MachineStates::state_of(const LatencyInterval& latency) const {
  const std::optional<std::size_t> before = state_of(latency.before_ns);
  return before == state_of(latency.after_ns) ? before : std::nullopt;
}

}  // namespace hycoll::measure
