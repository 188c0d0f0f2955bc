#ifndef HYCOLL_COLLECTIVES_JOB_RING_PLACES_H_
#define HYCOLL_COLLECTIVES_JOB_RING_PLACES_H_

#include <span>
#include <string>
#include <vector>

#include "collectives/job/process_group.h"
#include "collectives/job/rank_map.h"
#include "core/network/network_tree.h"

namespace hycoll {

/// Where hosts come in a ring over them (ring_order) that begins with the first.
struct HostPositions {
  std::vector<int> positions;  ///< By host; equal hosts have the same.
  std::string unknown;         ///< A host that the network does not have; then there are none.
};

/// `hosts` are found by their names, or else by what stands before the first dot of these. Pure.
HostPositions positions_in_ring(const NetworkTree& tree, std::span<const std::string> hosts);

/// The places of the group's processes (ProcessGroup::node_places()), numbered as their machines
/// come in a ring on the network that Options::topology describes; places of one machine keep their
/// order, and the first process's is still the first. If that lacks a machine, which the first
/// process says in a line on the standard error, as they are.
///
/// Requires a file, or "slurm". Collective over the group, in its set-up. The first process reads
/// the file for all. Throws Error (invalid_argument) on all if it cannot.
RankMap in_ring_order(const ProcessGroup& group, const RankMap& places);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_JOB_RING_PLACES_H_
