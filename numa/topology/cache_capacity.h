#ifndef HYCOLL_NUMA_TOPOLOGY_CACHE_CAPACITY_H_
#define HYCOLL_NUMA_TOPOLOGY_CACHE_CAPACITY_H_

#include <cstdint>

#include "numa/topology/topology.h"

namespace hycoll {

/// How many bytes threads that work together may expect to find again in the caches: the size of
/// the largest. But a cache that has more than 16 MiB for each of the machine's cores is not all
/// theirs: virtual machines show that of a whole socket to a few of its cores, and others fill it.
/// Then it is what the caches of the next level below, of all cores, hold together, as far as this
/// topology tells. 0 if no sizes are known.
std::uint64_t cache_capacity_bytes(const Topology& topology);

}  // namespace hycoll

#endif  // HYCOLL_NUMA_TOPOLOGY_CACHE_CAPACITY_H_
