#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_ALLGATHER_ALLGATHER_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_ALLGATHER_ALLGATHER_H_

#include <string>

#include "collectives/algorithms/allgather/exchange.h"
#include "collectives/algorithms/building_blocks/algorithm.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// Allgather by several leaders per node, each of a share of every node's part; see
/// multi_leader.cc. Serves every shape with Visibility::direct, one lane only where the exchange
/// sends several nodes' parts at once.
Schedule generate_multi_leader_allgather(std::string name, const Shape& shape,
                                         const GeneratorParameters& parameters);

/// Allgather by one leader per node, from whose buffer all others copy; see shared_address.cc.
/// Serves every shape with one lane and direct visibility that the exchange serves.
Schedule generate_shared_address_allgather(std::string name, const Shape& shape,
                                           const GeneratorParameters& parameters);

/// Allgather inside one node by leaders who read everybody's inputs, or write to everybody's
/// outputs; see direct_get.cc and direct_put.cc. Serve one node with direct visibility.
Schedule generate_direct_get_allgather(std::string name, const Shape& shape,
                                       const GeneratorParameters& parameters);
Schedule generate_direct_put_allgather(std::string name, const Shape& shape,
                                       const GeneratorParameters& parameters);

/// Allgather of short blocks through signal-carrying lines; see lines.cc. Serves every shape with
/// one lane and direct visibility whose leaders own a member.
Schedule generate_lines_allgather(std::string name, const Shape& shape,
                                  const GeneratorParameters& parameters);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_ALLGATHER_ALLGATHER_H_
