#ifndef HYCOLL_NUMA_TOPOLOGY_PROCESS_SHARE_H_
#define HYCOLL_NUMA_TOPOLOGY_PROCESS_SHARE_H_

#include <span>
#include <vector>

#include "numa/topology/topology.h"

/// How the cores of a machine are cut among its processes. Private to this folder.
namespace hycoll::internal {

/// Cuts `cores`, taken in their order, into `process_count` contiguous ranges whose sizes differ by
/// at most one: range i is [result[i], result[i + 1]). Where the count does not divide evenly, the
/// larger ranges lie so that the sum over all ranges of the NUMA domains and packages they straddle
/// is least; of equally good cuts the one with the larger ranges first is taken. Requires: 1 <=
/// process_count <= cores.size().
std::vector<int> cut_among_processes(std::span<const Core> cores, int process_count);

}  // namespace hycoll::internal

#endif  // HYCOLL_NUMA_TOPOLOGY_PROCESS_SHARE_H_
