#ifndef HYCOLL_NUMA_DRAWING_DRAWING_H_
#define HYCOLL_NUMA_DRAWING_DRAWING_H_

#include <span>
#include <string>

#include "numa/topology/topology.h"

namespace hycoll {

/// A picture of the packages, NUMA domains, last-level caches and cores of a topology with its
/// workers and leaders, as a self-contained SVG document: no scripts, fonts or style sheets, so
/// that it may stand in a file or inside an HTML page. Every core is an element with the attribute
/// data-core, and has a tooltip.
///
/// workers[i] is where worker i runs (place_workers); worker_of_lane[l] is the worker that drives
/// lane l (lane_workers). Either may be empty. Pure. Errors: invalid_argument, if a worker's core
/// is not in the topology or a lane's worker not in `workers`.
std::string topology_svg(const Topology& topology, std::span<const Core> workers,
                         std::span<const int> worker_of_lane);

}  // namespace hycoll

#endif  // HYCOLL_NUMA_DRAWING_DRAWING_H_
