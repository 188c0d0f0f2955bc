#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_ALLREDUCE_ALLREDUCE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_ALLREDUCE_ALLREDUCE_H_

#include <string>

#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/building_blocks/algorithm.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// The data-partitioned multi-leader allreduce; see dpml.cc. Serves every shape with
/// Visibility::direct.
Schedule generate_dpml_allreduce(std::string name, const Shape& shape,
                                 const GeneratorParameters& parameters);

/// The same with each lane's partition cut into `segments` parts whose exchanges are in flight
/// together; see dpml_pipelined.cc.
Schedule generate_dpml_pipelined_allreduce(std::string name, const Shape& shape,
                                           const GeneratorParameters& parameters);

/// Allreduce of short vectors through signal-carrying lines; see lines.cc. Serves every
/// shape with one lane and direct visibility whose leaders own a member.
Schedule generate_lines_allreduce(std::string name, const Shape& shape,
                                  const GeneratorParameters& parameters);

/// The same along a tree that follows the groups of a node's workers; see lines_tree.cc. Serves the
/// same shapes.
Schedule generate_lines_tree_allreduce(std::string name, const Shape& shape,
                                       const GeneratorParameters& parameters);

/// Allreduce of long vectors along trees that follow the groups of a node's workers, one for each
/// lane; see grouped_leaders.cc. Serves shapes of one node with direct visibility.
Schedule generate_grouped_leaders_allreduce(std::string name, const Shape& shape,
                                            const GeneratorParameters& parameters);

/// SMP-binomial and SMP-butterfly, by the exchange; see smp.cc. Serves every shape with
/// one lane and direct visibility.
Schedule generate_smp_allreduce(std::string name, const Shape& shape,
                                const GeneratorParameters& parameters);

/// Colours and core specialisation of Blue Gene/P; see colour_rings.cc. Serves every
/// shape with direct visibility. Worker 0 of every node drives all lanes, whatever the shape says.
Schedule generate_colour_rings_allreduce(std::string name, const Shape& shape,
                                         const GeneratorParameters& parameters);

/// One leader per node and aggregators; see node_leader.cc. Serves shapes with one lane
/// whose last nodes are aggregators (has_aggregators_last).
Schedule generate_node_leader_allreduce(std::string name, const Shape& shape,
                                        const GeneratorParameters& parameters);

/// One leader per socket and aggregators; see socket_leader.cc. Serves shapes whose last
/// nodes are aggregators of one worker. The owner of a socket's first member drives its lane,
/// whatever the shape says.
Schedule generate_socket_leader_allreduce(std::string name, const Shape& shape,
                                          const GeneratorParameters& parameters);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_ALLREDUCE_ALLREDUCE_H_
