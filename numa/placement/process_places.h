#ifndef HYCOLL_NUMA_PLACEMENT_PROCESS_PLACES_H_
#define HYCOLL_NUMA_PLACEMENT_PROCESS_PLACES_H_

#include <span>
#include <string>

#include "numa/topology/affinity_mask.h"

namespace hycoll {

/// Where the launcher has put a process.
struct ProcessPlace {
  std::string host;
  AffinityMask cpus;  ///< The processing units that it may use.

  friend bool operator==(const ProcessPlace&, const ProcessPlace&) = default;
};

/// For people, a line for each kind of host. Hosts are of one kind if equally many processes run on
/// them, which may use the same processing units in the order of their ranks:
///
///   host1, host2: 2 processes each, on CPUs 0-1, 1 for each
///   host3: 1 process, on CPUs 0-3
///
/// `places`: of the processes, by rank. Hosts come in the order of their first ranks. Pure.
std::string describe_places(std::span<const ProcessPlace> places);

}  // namespace hycoll

#endif  // HYCOLL_NUMA_PLACEMENT_PROCESS_PLACES_H_
