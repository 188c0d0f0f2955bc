#ifndef HYCOLL_NUMA_TOPOLOGY_NEIGHBOURHOODS_H_
#define HYCOLL_NUMA_TOPOLOGY_NEIGHBOURHOODS_H_

#include <span>
#include <vector>

#include "core/base/transfer_times.h"
#include "numa/topology/topology.h"

namespace hycoll {

/// What of a machine a worker runs on: numbers that are the same for workers that share it, -1 for
/// nothing that others could share.
struct CorePlace {
  int core = -1;
  int cache = -1;  ///< Of the last level.
  int domain = -1;
  int package = -1;

  friend bool operator==(const CorePlace&, const CorePlace&) = default;
};

/// Of a core, by the indices of its topology.
CorePlace place_of(const Core& core) noexcept;

/// The nearest thing that both share. A NUMA domain of several packages brings these no nearer.
Proximity proximity_of(const CorePlace& a, const CorePlace& b) noexcept;

/// How many neighbouring workers share something of the machine, group by group in their order.
struct Neighbourhood {
  Proximity shared;  ///< The least that two workers of a group do.
  std::vector<int> sizes;

  friend bool operator==(const Neighbourhood&, const Neighbourhood&) = default;
};

/// Which of the workers at these places share a core, a last-level cache, a NUMA domain, a package:
/// a level for each of these, from the smallest to the largest, each consisting of whole groups of
/// the one before. Left out are levels whose groups are not neighbouring workers, or cut those of a
/// smaller one; and those that tell nothing: of groups of one worker each, or like the level
/// before. Pure.
std::vector<Neighbourhood> neighbourhoods(std::span<const CorePlace> place_of_worker);

}  // namespace hycoll

#endif  // HYCOLL_NUMA_TOPOLOGY_NEIGHBOURHOODS_H_
