#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_ALLREDUCE_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_ALLREDUCE_EXCHANGE_H_

#include <optional>

#include "collectives/algorithms/building_blocks/chunks.h"
#include "collectives/algorithms/building_blocks/exchange.h"
#include "collectives/algorithms/building_blocks/trees.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// One lane's part of the vector on one node: what an exchange works on. An aggregator has neither
/// source nor result, and only the aggregation tree knows it.
struct LaneVector {
  int lane;
  ChunkRange chunks;
  int node;
  StrandId strand;  ///< The leader's.
  BufferId source;  ///< The node's contribution; only read, unless it is the result itself.
  BufferId result;  ///< Where the combined vector ends up.
  std::optional<TreePlace> place = {};  ///< In a chain; none: as the nodes are numbered.

  Span whole_source() const { return span_of(source, chunks); }
  Span whole_result() const { return span_of(result, chunks); }
};

/// Appends what one node does in the exchange of one lane: when every node has done its part, every
/// result holds the combination of all sources. With one node it copies. The chunk count is as the
/// exchange's chunks_per_lane says.
void append_exchange(ScheduleBuilder& builder, const Exchange& exchange, const LaneVector& vector);

/// On which side of a node's own operand stands what a child hands over.
enum class ChildOperand { left, right };

/// Appends what a node does on the way of the whole vector up a tree, where everybody combines what
/// its children hand over, in the opposite of their order, and of the result back down.
void append_reduce_and_broadcast(ScheduleBuilder& builder, const TreePlace& place,
                                 ChildOperand side, const LaneVector& vector);

/// A scratch buffer for the lane's chunks at the node's leader.
BufferId add_lane_scratch(ScheduleBuilder& builder, const LaneVector& vector);

// The kinds; each is described in its file.

void append_recursive_doubling(ScheduleBuilder& builder, const LaneVector& vector);
inline constexpr Exchange kRecursiveDoubling{.order = OperandOrder::canonical,
                                             .segmentation = Segmentation::messages,
                                             .chunks_per_lane = chunk_per_segment,
                                             .allreduce = append_recursive_doubling};

void append_ring(ScheduleBuilder& builder, const LaneVector& vector);
inline constexpr Exchange kRing{.segmentation = Segmentation::messages,
                                .messages = MessageSize::block,
                                .chunks_per_lane = chunk_per_node_and_segment,
                                .allreduce = append_ring};

void append_halving_doubling(ScheduleBuilder& builder, const LaneVector& vector);
inline constexpr Exchange kHalvingDoubling{.order = OperandOrder::canonical,
                                           .chunks_per_lane = chunk_per_partner,
                                           .allreduce = append_halving_doubling};

void append_circulant(ScheduleBuilder& builder, const LaneVector& vector);
inline constexpr Exchange kCirculant{.messages = MessageSize::block,
                                     .chunks_per_lane = chunk_per_node,
                                     .allreduce = append_circulant};

void append_mixed_radix(ScheduleBuilder& builder, const LaneVector& vector);
inline constexpr Exchange kMixedRadix{.order = OperandOrder::by_rank,
                                      .messages = MessageSize::block,
                                      .chunks_per_lane = chunk_per_node,
                                      .allreduce = append_mixed_radix};

void append_native(ScheduleBuilder& builder, const LaneVector& vector);
inline constexpr Exchange kNative{.help = ExchangeHelp::mpi_library, .allreduce = append_native};

void append_binomial(ScheduleBuilder& builder, const LaneVector& vector);
inline constexpr Exchange kBinomial{.order = OperandOrder::by_rank, .allreduce = append_binomial};

void append_chain(ScheduleBuilder& builder, const LaneVector& vector);
inline constexpr Exchange kChain{.messages = MessageSize::passed_on, .allreduce = append_chain};

/// Requires a shape that has_aggregators_last accepts (aggregation.h).
void append_aggregation_tree(ScheduleBuilder& builder, const LaneVector& vector);
inline constexpr Exchange kAggregationTree{.order = OperandOrder::by_rank,
                                           .help = ExchangeHelp::aggregators,
                                           .allreduce = append_aggregation_tree};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_ALLREDUCE_EXCHANGE_H_
