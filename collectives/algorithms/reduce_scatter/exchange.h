#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_SCATTER_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_SCATTER_EXCHANGE_H_

#include <functional>
#include <vector>

#include "collectives/algorithms/building_blocks/exchange.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "collectives/algorithms/building_blocks/shares.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// One lane's part of the vector on one node, with a part of it for each of all nodes.
struct PartedVector {
  int lane;
  int segments;  ///< Parts that messages are cut into.
  int node;
  NodeParts parts;
  StrandId strand;            ///< The leader's.
  NodeSum sum;                ///< The node's contribution; used up.
  std::vector<Span> results;  ///< Where the node's part ends up: spans that cover it in order.
  /// Called for each piece of a result when the steps that complete it have been appended; may
  /// append what is to follow. Only by exchanges that cut their messages.
  std::function<void(Span result)> on_result = [](Span) {};
};

/// Appends what the node does in the exchange of one lane: afterwards, in strand order, the result
/// holds the combination of its part of all sums. Requires at least two nodes. For exchanges that
/// cut their messages the sum has a place for every part, or for every piece of the own part's
/// result; for the others one for every one of the ranges over all nodes.
void append_reduce_scatter_exchange(ScheduleBuilder& builder, const Exchange& exchange,
                                    PartedVector& vector);

// The kinds; each is described in its file. A part has as many chunks as the collective's blocks
// and its lanes need, so they name no number of chunks.

/// Every node sends to every other one.
void append_pairwise_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector);
inline constexpr Exchange kPairwiseReduceScatter{.order = OperandOrder::canonical,
                                                 .segmentation = Segmentation::messages,
                                                 .messages = MessageSize::block,
                                                 .reduce_scatter = append_pairwise_reduce_scatter};

void append_ring_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector);
inline constexpr Exchange kRingReduceScatter{.segmentation = Segmentation::messages,
                                             .messages = MessageSize::block,
                                             .reduce_scatter = append_ring_reduce_scatter};

/// Recursive halving, far partners first: the fewest bytes, in any order of operands.
void append_halving_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector);
inline constexpr Exchange kHalvingReduceScatter{.reduce_scatter = append_halving_reduce_scatter};

/// Recursive halving, near partners first: the canonical tree, and one step more.
void append_butterfly_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector);
inline constexpr Exchange kButterflyReduceScatter{
    .order = OperandOrder::canonical, .reduce_scatter = append_butterfly_reduce_scatter};

/// Over a circulant graph: the fewest steps and bytes for every number of nodes.
void append_circulant_exchange(ScheduleBuilder& builder, PartedVector& vector);
inline constexpr Exchange kCirculantReduceScatter{.reduce_scatter = append_circulant_exchange};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_SCATTER_EXCHANGE_H_
