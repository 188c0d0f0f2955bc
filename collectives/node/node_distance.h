#ifndef HYCOLL_COLLECTIVES_NODE_NODE_DISTANCE_H_
#define HYCOLL_COLLECTIVES_NODE_NODE_DISTANCE_H_

#include <chrono>
#include <cstddef>
#include <span>

#include "threading/memory/handoff.h"
#include "threading/memory/node_memory.h"

namespace hycoll {

/// Workers whose handoffs take longer do not share a cache. There, a line that one has written and
/// the other reads costs more than memory: staging is written past the caches
/// (docs/measurements.md).
inline constexpr double kFarHandoffNs = 130;

/// Where workers are far from one another staging is written past the caches, from so many bytes of
/// a step on (docs/measurements.md).
inline constexpr std::size_t kStreamingStagingBytes = 1024;

/// How long a measurement goes on, and waits for who is late.
struct MeasurementTime {
  HandoffRounds rounds;
  std::chrono::nanoseconds patience;
};
/// When processes meet anyway; and between two calls.
inline constexpr MeasurementTime kThorough = {.rounds = {},
                                              .patience = std::chrono::milliseconds(2)};
inline constexpr MeasurementTime kLook = {.rounds = {.batches = 3, .round_trips_per_batch = 10},
                                          .patience = std::chrono::microseconds(100)};

/// The time of a handoff, in nanoseconds, between party `party` of a node and the one half a node
/// away; 0 if it has none, or one of the two was late. `first_workers`: by party, a process or a
/// thread. All parties call this at about the same time, after all are ready; they spin meanwhile.
double measure_half_a_node_apart(NodeMemory& memory, std::span<const int> first_workers, int party,
                                 const MeasurementTime& time);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_NODE_DISTANCE_H_
