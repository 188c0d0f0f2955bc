#ifndef HYCOLL_NUMA_TOPOLOGY_NEIGHBOURHOODS_H_
#define HYCOLL_NUMA_TOPOLOGY_NEIGHBOURHOODS_H_

#include <span>
#include <vector>

#include "numa/topology/topology.h"

namespace hycoll {

/// How many neighbouring workers share something of the machine, group by group in their order.
using NeighbourhoodSizes = std::vector<int>;

/// Which of the workers that run on these cores (indices into the topology's) share a last-level
/// cache, a NUMA domain, a package: a level for each of these, from the smallest to the largest,
/// each consisting of whole groups of the one before. A level whose groups are not neighbouring
/// workers, or cut those of a smaller one, is left out. Errors: invalid_argument, if there is no
/// such core.
std::vector<NeighbourhoodSizes> neighbourhoods(const Topology& topology,
                                               std::span<const int> core_of_worker);

}  // namespace hycoll

#endif  // HYCOLL_NUMA_TOPOLOGY_NEIGHBOURHOODS_H_
