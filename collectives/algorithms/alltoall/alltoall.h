#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_ALLTOALL_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_ALLTOALL_H_

#include <string>

#include "collectives/algorithms/alltoall/exchange.h"
#include "collectives/algorithms/building_blocks/algorithm.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// All-to-all by leaders, each of whom gathers, exchanges and scatters what passes between its node
/// and some others; see multi_leader.cc. Serves every shape with Visibility::direct.
Schedule generate_multi_leader_alltoall(std::string name, const Shape& shape,
                                        const GeneratorParameters& parameters);

/// The same with what stays on a node dealt out along a Z-curve; see cache_oblivious.cc. Serves
/// every shape with Visibility::direct.
Schedule generate_cache_oblivious_alltoall(std::string name, const Shape& shape,
                                           const GeneratorParameters& parameters);

/// All-to-all inside one node by leaders who write to everybody's outputs; see direct_put.cc.
/// Serves one node with direct visibility.
Schedule generate_direct_put_alltoall(std::string name, const Shape& shape,
                                      const GeneratorParameters& parameters);

/// All-to-all of short blocks between few members of one node, through signal-carrying lines; see
/// lines.cc.
Schedule generate_lines_alltoall(std::string name, const Shape& shape,
                                 const GeneratorParameters& parameters);

/// The most members whose nodes can pass on what is for others: the pairs themselves, and those in
/// packs, which a node sends and receives once at most, have to be numbered.
inline constexpr int kMostPackedMembers = 26'754;

/// The members that have lines for one another.
inline constexpr int kMostMembersWithLines = 3;

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_ALLTOALL_H_
