#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_EXCHANGE_H_

#include "collectives/algorithms/building_blocks/exchange.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// One lane's part of the vector on one node.
struct RootedVector {
  int lane;
  ChunkRange chunks;
  int segments;  ///< Parts that messages are cut into.
  int node;
  int root_node;
  StrandId strand;  ///< The leader's.
  NodeSum sum;      ///< The node's contribution; used up.
  Span result;      ///< On the root's node: where the combined vector ends up. May be the sum's
                    ///< place.

  bool is_at_root() const noexcept { return node == root_node; }
};

/// Appends what the node does in the exchange of one lane: afterwards, in strand order, the result
/// at the root's holds the combination of all sums. With one node the sum is copied, if it lies
/// elsewhere.
void append_rooted_exchange(ScheduleBuilder& builder, const Exchange& exchange,
                            RootedVector& vector);

// The kinds; each is described in its file.

void append_binomial_reduce(ScheduleBuilder& builder, RootedVector& vector);
inline constexpr Exchange kBinomialReduce{.order = OperandOrder::canonical,
                                          .segmentation = Segmentation::messages,
                                          .chunks_per_lane = chunk_per_segment,
                                          .reduce = append_binomial_reduce};

/// Reduce-scatter over a ring, then gather: gather.cc.
void append_ring_reduce(ScheduleBuilder& builder, RootedVector& vector);
inline constexpr Exchange kRingReduce{.segmentation = Segmentation::messages,
                                      .messages = MessageSize::block,
                                      .chunks_per_lane = chunk_per_node_and_segment,
                                      .reduce = append_ring_reduce};

/// Reduce-scatter by direct messages, then gather: gather.cc.
void append_pairwise_reduce(ScheduleBuilder& builder, RootedVector& vector);
inline constexpr Exchange kPairwiseReduce{.order = OperandOrder::canonical,
                                          .segmentation = Segmentation::messages,
                                          .messages = MessageSize::block,
                                          .chunks_per_lane = chunk_per_node_and_segment,
                                          .reduce = append_pairwise_reduce};

void append_halving_reduce(ScheduleBuilder& builder, RootedVector& vector);
inline constexpr Exchange kHalvingReduce{.order = OperandOrder::canonical,
                                         .chunks_per_lane = chunk_per_partner,
                                         .reduce = append_halving_reduce};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_EXCHANGE_H_
