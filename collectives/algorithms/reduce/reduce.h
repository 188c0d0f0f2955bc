#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_REDUCE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_REDUCE_H_

#include <string>

#include "collectives/algorithms/building_blocks/algorithm.h"
#include "collectives/algorithms/reduce/exchange.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// The data-partitioned multi-leader reduce; see dpml.cc. Serves every shape with
/// Visibility::direct.
Schedule generate_dpml_reduce(std::string name, const Shape& shape,
                              const GeneratorParameters& parameters);

/// Reduce of short vectors through signal-carrying lines; see lines.cc. Serves every shape
/// with one lane and direct visibility whose leaders own a member.
Schedule generate_lines_reduce(std::string name, const Shape& shape,
                               const GeneratorParameters& parameters);

/// The same along a tree that follows the groups of a node's workers; see lines_tree.cc. Serves the
/// same shapes.
Schedule generate_lines_tree_reduce(std::string name, const Shape& shape,
                                    const GeneratorParameters& parameters);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_REDUCE_H_
