#ifndef HYCOLL_THREADING_LATENCY_CORE_LATENCIES_H_
#define HYCOLL_THREADING_LATENCY_CORE_LATENCIES_H_

#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/base/transfer_times.h"
#include "numa/topology/topology.h"
#include "threading/latency/latency_file.h"

namespace hycoll {

/// Two cores, or two processing units of a core.
struct CorePair {
  Core a;
  Core b;
};

/// Pairs of cores that are this near one another and no nearer, two at most, as far apart in the
/// topology's order as can be. Pure.
std::vector<CorePair> core_pairs(const Topology& topology, Proximity proximity);

/// What Options::latencies (HYCOLL_LATENCIES) asks for.
struct LatencyRequest {
  enum class Source {
    kept,       ///< What has been measured once, or is now: the default.
    measured,   ///< Measured again, and kept.
    published,  ///< Published figures.
    given,      ///< These.
  };
  Source source = Source::kept;
  std::array<double, kProximityCount> given_ns = {};

  friend bool operator==(const LatencyRequest&, const LatencyRequest&) = default;
};

/// "measure", "published", or five numbers of nanoseconds, "10,25,80,110,200", from the same core
/// to the other package; "" is kept. Throws Error (invalid_argument) otherwise, which names the
/// variable.
LatencyRequest parse_latency_request(std::string_view text);

/// Latencies from core to core, and where they come from.
struct CoreLatencies {
  TransferTimes times = kPublishedTimes;
  enum class Origin { published, measured, given };
  std::array<Origin, kProximityCount> origins = {};
  std::filesystem::path file;  ///< Where measured ones are kept; empty if nowhere.
};

/// Those of the topology's machine. What is neither given nor kept is measured if this process may,
/// in at most a few milliseconds for each proximity between whose cores two threads of this process
/// can be bound; the rest is published. `cores_are_shared`: others need the cores, so nothing is
/// measured. Thread-safe; one process measures once.
CoreLatencies core_latencies(const Topology& topology, bool cores_are_shared,
                             const LatencyRequest& request);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_LATENCY_CORE_LATENCIES_H_
