#ifndef HYCOLL_NUMA_TOPOLOGY_CROWDING_H_
#define HYCOLL_NUMA_TOPOLOGY_CROWDING_H_

#include <span>
#include <vector>

/// Which processes of a machine have to share cores. Private to this folder.
namespace hycoll::internal {

/// By process, given the cores that each may use, by numbers from 0: whether it is crowded. When as
/// many processes as possible run at the same time, each on a core of its own, these are the ones
/// that may be left without; the others never are. One that may use no core is crowded.
std::vector<bool> crowded_processes(std::span<const std::vector<int>> cores_of_process);

}  // namespace hycoll::internal

#endif  // HYCOLL_NUMA_TOPOLOGY_CROWDING_H_
