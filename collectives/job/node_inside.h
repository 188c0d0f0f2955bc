#ifndef HYCOLL_COLLECTIVES_JOB_NODE_INSIDE_H_
#define HYCOLL_COLLECTIVES_JOB_NODE_INSIDE_H_

#include <functional>
#include <span>
#include <vector>

#include "collectives/job/process_group.h"
#include "collectives/selection/groups.h"
#include "core/base/transfer_times.h"
#include "core/schedule/shape.h"
#include "numa/topology/neighbourhoods.h"

namespace hycoll {

/// What plans depend on that is inside the nodes: the same on all processes.
struct NodeInside {
  std::vector<EqualLeaders> leaders;  ///< By node.
  std::vector<EqualNearness> near;    ///< By node; none where all are flat.
  TransferTimes times = kPublishedTimes;
};

/// Who leads, and what Options::groups asks for. Collective over the group. Every process passes
/// its own node's leaders, as many as all others, and `places`, where the node's workers run, as
/// far as they have cores of their own, else empty. Groups and latencies are asked for only if some
/// node has InsideCosts::kLeastWorkers workers. Latencies are those of the machine of the group's
/// first process, measured there if that has not been done before (core_latencies()).
NodeInside agree_on_inside(const ProcessGroup& group, std::span<const EqualNodes> nodes,
                           const std::vector<int>& leaders, std::span<const CorePlace> places,
                           const std::function<int(int node)>& first_rank_of);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_JOB_NODE_INSIDE_H_
