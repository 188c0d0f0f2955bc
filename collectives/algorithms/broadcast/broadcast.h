#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BROADCAST_BROADCAST_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BROADCAST_BROADCAST_H_

#include <string>

#include "collectives/algorithms/broadcast/exchange.h"
#include "collectives/algorithms/building_blocks/algorithm.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// Broadcast by several leaders per node, each of a partition; see multi_leader.cc.
/// Serves every shape with Visibility::direct.
Schedule generate_multi_leader_broadcast(std::string name, const Shape& shape,
                                         const GeneratorParameters& parameters);

/// Broadcast through the leaders' buffers, which the others copy from as message counters grow; see
/// shared_address.cc. Serves every shape with Visibility::direct.
Schedule generate_shared_address_broadcast(std::string name, const Shape& shape,
                                           const GeneratorParameters& parameters);

/// Broadcast of short vectors through signal-carrying lines; see lines.cc. Serves every
/// shape with one lane and direct visibility whose leaders own a member.
Schedule generate_lines_broadcast(std::string name, const Shape& shape,
                                  const GeneratorParameters& parameters);

/// The same along a tree that follows the groups of a node's workers; see lines_tree.cc. Serves the
/// same shapes.
Schedule generate_lines_tree_broadcast(std::string name, const Shape& shape,
                                       const GeneratorParameters& parameters);

/// Broadcast through the nodes' broadcast FIFOs; see fifo.cc. Requires an exchange that
/// is a tree.
Schedule generate_fifo_broadcast(std::string name, const Shape& shape,
                                 const GeneratorParameters& parameters);
bool serves_fifo_broadcast(const Shape& shape);

/// Broadcast with a task for every worker, over a tree of aggregators; see
/// core_specialised.cc.
Schedule generate_core_specialised_broadcast(std::string name, const Shape& shape,
                                             const GeneratorParameters& parameters);
bool serves_core_specialised_broadcast(const Shape& shape);

/// Where a lane's chunks are on a node: the input of the root on its node, on another the output of
/// the leader's member or, if the leader owns none, of the first member.
struct BroadcastPlace {
  int member;
  BufferId buffer;
};
BroadcastPlace broadcast_place(const ScheduleBuilder& builder, int node, int lane);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BROADCAST_BROADCAST_H_
