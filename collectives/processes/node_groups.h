#ifndef HYCOLL_COLLECTIVES_PROCESSES_NODE_GROUPS_H_
#define HYCOLL_COLLECTIVES_PROCESSES_NODE_GROUPS_H_

#include <span>
#include <string>
#include <vector>

#include "core/schedule/shape.h"
#include "numa/topology/topology.h"

namespace hycoll {

/// The groups that Options::groups asks for, by node; none where all are flat. "machine" is for a
/// single node whose workers are all of this process, on these cores of the topology. Errors:
/// invalid_argument, if the text is neither a word nor sizes that can be groups.
std::vector<GroupedRun> groups_of_nodes(const std::string& requested,
                                        std::span<const NodeRun> nodes, const Topology& topology,
                                        std::span<const Core> own_cores);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PROCESSES_NODE_GROUPS_H_
