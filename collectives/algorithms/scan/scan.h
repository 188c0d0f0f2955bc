#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_SCAN_SCAN_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_SCAN_SCAN_H_

#include <string>

#include "collectives/algorithms/building_blocks/algorithm.h"
#include "collectives/algorithms/scan/exchange.h"
#include "core/schedule/schedule.h"

namespace hycoll {

// The canonical tree of scan and exscan, for a member whose node is preceded by others: the totals
// of these nodes, folded from the left, are the first operand; then come the inputs of the members
// of its own node, one by one. Only the last member of a node combines, in a scan, what precedes
// its node with the total of its node. A total is the fold of a node's inputs from the left.

/// The data-partitioned multi-leader scan or exscan; see dpml.cc. Serves every shape with
/// Visibility::direct. The exchange is any but direct.
Schedule generate_dpml_scan(std::string name, const Shape& shape,
                            const GeneratorParameters& parameters);

/// Scan or exscan of short vectors through signal-carrying lines; see lines.cc. Serves every
/// shape with one lane and direct visibility whose leaders own a member.
Schedule generate_lines_scan(std::string name, const Shape& shape,
                             const GeneratorParameters& parameters);

/// Whether the totals of all nodes, in a direct exchange of the longest vectors that lines hold,
/// fit into the scratch that an algorithm may have: shapes for lines with at most 64 nodes.
bool serves_direct_scan(const Shape& shape);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_SCAN_SCAN_H_
