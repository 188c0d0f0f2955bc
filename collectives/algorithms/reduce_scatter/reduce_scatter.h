#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_SCATTER_REDUCE_SCATTER_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_SCATTER_REDUCE_SCATTER_H_

#include <string>

#include "collectives/algorithms/building_blocks/algorithm.h"
#include "collectives/algorithms/reduce_scatter/exchange.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// The data-partitioned multi-leader reduce_scatter; see dpml.cc. Serves every shape
/// with Visibility::direct; pairwise needs what serves_pairwise_reduce_scatter says.
Schedule generate_dpml_reduce_scatter(std::string name, const Shape& shape,
                                      const GeneratorParameters& parameters);

/// Reduce_scatter of short vectors through signal-carrying lines; see lines.cc.
/// Serves every shape with one lane and direct visibility whose leaders own a member.
Schedule generate_lines_reduce_scatter(std::string name, const Shape& shape,
                                       const GeneratorParameters& parameters);

/// Whether a node of N with several members has no more than 1 / (N - 2) of all members: what it
/// receives in a pairwise exchange, N - 1 times its part, and its sums for the others fit into two
/// vectors then.
bool serves_pairwise_reduce_scatter(const Shape& shape);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_SCATTER_REDUCE_SCATTER_H_
