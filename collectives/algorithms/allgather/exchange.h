#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_ALLGATHER_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_ALLGATHER_EXCHANGE_H_

#include "collectives/algorithms/building_blocks/allgather.h"
#include "collectives/algorithms/building_blocks/exchange.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// One lane's shares of all nodes' parts, which a node is to have: a block for each node. Those of
/// neighbouring nodes follow each other where there is one lane. The strand, the place and what is
/// appended are still to be filled in.
GatheredBlocks gathered_shares(const ScheduleBuilder& builder, int node, int lane);

/// The same of a lane whose leader has collected its share of the node's part from the members'
/// inputs in an output, that of holding_member(): only what is done on arrival is still to be
/// filled in. Appends the copies.
GatheredBlocks collected_shares(ScheduleBuilder& builder, const NodePhases& phases, int lane);

// How the leaders of one lane exchange what their nodes have; all are described in
// parts/allgather.cc. Nothing is combined, so any order is kept.

inline constexpr Exchange kRingAllgather{.order = OperandOrder::canonical,
                                         .messages = MessageSize::block,
                                         .allgather = append_ring_allgather};

/// For several nodes' parts at once: one lane.
inline constexpr Exchange kDoublingAllgather{.order = OperandOrder::canonical,
                                             .nodes_served = NodesServed::powers_of_two,
                                             .allgather = append_doubling_allgather};
/// The same for any number of nodes.
inline constexpr Exchange kCirculantAllgather{.order = OperandOrder::canonical,
                                              .allgather = append_circulant_allgather};
inline constexpr Exchange kBruckAllgather{.order = OperandOrder::canonical,
                                          .allgather = append_bruck_allgather};

/// For two neighbouring nodes' parts at once: one lane.
inline constexpr Exchange kNeighbourAllgather{.order = OperandOrder::canonical,
                                              .messages = MessageSize::block,
                                              .nodes_served = NodesServed::even,
                                              .allgather = append_neighbour_allgather};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_ALLGATHER_EXCHANGE_H_
