#ifndef HYCOLL_TOOLS_MEASURE_CORE_LATENCY_H_
#define HYCOLL_TOOLS_MEASURE_CORE_LATENCY_H_

#include "numa/topology/topology.h"
#include "threading/memory/handoff.h"

namespace hycoll::measure {

/// The time in nanoseconds in which a cache line written on one core is seen on the other: half a
/// round trip of a counter between two threads bound to the cores. The median over the batches; as
/// many as by default take a few milliseconds in all. The calling thread is not bound.
///
/// Requires two different cores of `topology`. Errors: unsupported, if the topology does not
/// describe this machine; environment, if the threads cannot be bound; invalid_argument, if both
/// cores are the same, for two spinning threads would wait for each other's time slices.
double core_latency_ns(const Topology& topology, const Core& a, const Core& b,
                       const HandoffRounds& rounds = {.batches = 21, .round_trips_per_batch = 400});

}  // namespace hycoll::measure

#endif  // HYCOLL_TOOLS_MEASURE_CORE_LATENCY_H_
