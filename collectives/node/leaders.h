#ifndef HYCOLL_COLLECTIVES_NODE_LEADERS_H_
#define HYCOLL_COLLECTIVES_NODE_LEADERS_H_

#include <span>
#include <vector>

#include "numa/placement/placement.h"
#include "numa/topology/topology.h"

namespace hycoll {

/// How many members a node of w workers has: one buffer per process (per_node), or one per worker
/// (threads).
enum class MemberCount { one, every_worker };

/// Where the workers of a process that is a node by itself run, by worker. Where these are members,
/// which users number, neighbours run on neighbouring cores. Otherwise they stand in the order in
/// which they lead: worker l drives lane l, and a plan that needs few of them takes the first ones.
///
/// Errors: as place_workers().
std::vector<Core> worker_cores(const Topology& topology, int worker_count, Placement placement,
                               MemberCount members);

/// The workers of a node that drive its lanes, by lane. The leaders of fewer lanes are the first
/// ones of many.
///
/// Requires workers and lanes.
std::vector<int> leaders_of(std::span<const Core> workers, int lane_count, Placement placement);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_LEADERS_H_
