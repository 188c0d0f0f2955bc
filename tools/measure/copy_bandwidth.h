#ifndef HYCOLL_TOOLS_MEASURE_COPY_BANDWIDTH_H_
#define HYCOLL_TOOLS_MEASURE_COPY_BANDWIDTH_H_

#include <cstddef>

#include "numa/topology/topology.h"

namespace hycoll::measure {

/// The size of the vector that copy_bandwidth_gb_per_s copies: larger than the last-level cache of
/// the core where that is possible with at most 64 MiB, so that memory is measured.
std::size_t copy_size_bytes(const Topology& topology, const Core& core);

/// How many gigabytes (10^9 bytes) a second one core copies from memory to memory, counting the
/// bytes copied once: the median of 5 copies of copy_size_bytes() by a thread bound to the core.
/// The calling thread is not bound. Errors: unsupported, if the topology does not describe this
/// machine; environment, if the thread cannot be bound.
double copy_bandwidth_gb_per_s(const Topology& topology, const Core& core);

}  // namespace hycoll::measure

#endif  // HYCOLL_TOOLS_MEASURE_COPY_BANDWIDTH_H_
