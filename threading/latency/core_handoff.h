#ifndef HYCOLL_THREADING_LATENCY_CORE_HANDOFF_H_
#define HYCOLL_THREADING_LATENCY_CORE_HANDOFF_H_

#include <chrono>
#include <vector>

#include "numa/topology/topology.h"
#include "threading/memory/handoff.h"

namespace hycoll {

/// The time in nanoseconds in which a cache line written on one core is seen on the other, of each
/// batch, between two threads bound to processing units `a` and `b`.os_index, which differ. Empty
/// if one of them has waited longer than `patience` in all. The calling thread is not bound.
/// Errors: unsupported, if the topology does not describe this machine; environment, if the threads
/// cannot be bound.
std::vector<double> measure_core_handoff(const Topology& topology, const Core& a, const Core& b,
                                         const HandoffRounds& rounds,
                                         std::chrono::nanoseconds patience);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_LATENCY_CORE_HANDOFF_H_
