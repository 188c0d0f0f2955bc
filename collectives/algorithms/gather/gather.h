#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_GATHER_GATHER_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_GATHER_GATHER_H_

#include <string>

#include "collectives/algorithms/building_blocks/algorithm.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// Gather by several leaders per node, each of a share of every node's part; see multi_leader.cc.
/// Serves every shape with Visibility::direct.
Schedule generate_multi_leader_gather(std::string name, const Shape& shape,
                                      const GeneratorParameters& parameters);

/// Gather of short blocks through signal-carrying lines; see lines.cc. Serves every shape with one
/// lane and direct visibility whose leaders own a member.
Schedule generate_lines_gather(std::string name, const Shape& shape,
                               const GeneratorParameters& parameters);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_GATHER_GATHER_H_
