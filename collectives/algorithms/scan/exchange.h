#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_SCAN_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_SCAN_EXCHANGE_H_

#include <functional>

#include "collectives/algorithms/building_blocks/chunks.h"
#include "collectives/algorithms/building_blocks/exchange.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// One node's part in the exchange of a lane.
struct ScanNode {
  StrandId strand;  ///< The leader's.
  NodeSum sum;      ///< The node's own total.
  /// Where the totals up to the node's own are combined, those before and the own; may be the place
  /// of the sum, or kNoBuffer: scratch is added then if the exchange needs some.
  BufferId inclusive;
  bool needs_inclusive;  ///< Whether that is a result. What the first node has there is its sum.
  /// Where the totals of the nodes before are combined; kNoBuffer if that is not needed. Scratch,
  /// or the output of the node's only member. The first node has none.
  BufferId exclusive;
};

/// One lane's part of the vector on one node.
struct ScanVector {
  int lane;
  ChunkRange chunks;
  int segments;  ///< Parts that are handled one after the other, of as many chunks each.
  int node;
  ScanNode self;
  /// Called for each range of chunks when the steps that complete it have been appended; may append
  /// what is to follow.
  std::function<void(ChunkRange chunks)> on_prefix = [](ChunkRange) {};
};

/// Appends what the node does in the exchange of one lane: afterwards, in strand order, the
/// combinations are where ScanNode says. The operands always stand in rank order.
void append_scan_exchange(ScheduleBuilder& builder, const Exchange& exchange, ScanVector& vector);

/// Where the node may receive what is to end up in its exclusive place, and combine it with its sum
/// afterwards: there, unless this is an output, which may be the memory of the sum, or nowhere.
BufferId place_of_received(ScheduleBuilder& builder, const ScanVector& vector);

// How the leaders of one lane find out what precedes their nodes; each is described in its file.

/// By nodes at distances 1, 2, 4, ...
void append_doubling_scan(ScheduleBuilder& builder, ScanVector& vector);
inline constexpr Exchange kDoublingScan{.order = OperandOrder::by_rank,
                                        .segmentation = Segmentation::messages,
                                        .chunks_per_lane = chunk_per_segment,
                                        .scan = append_doubling_scan};

/// From node to node.
void append_chain_scan(ScheduleBuilder& builder, ScanVector& vector);
inline constexpr Exchange kChainScan{.order = OperandOrder::canonical,
                                     .segmentation = Segmentation::messages,
                                     .chunks_per_lane = chunk_per_segment,
                                     .scan = append_chain_scan};

/// Every node scans one block of the vector for all.
void append_pairwise_scan(ScheduleBuilder& builder, ScanVector& vector);
inline constexpr Exchange kPairwiseScan{.order = OperandOrder::canonical,
                                        .messages = MessageSize::block,
                                        .chunks_per_lane = chunk_per_node,
                                        .scan = append_pairwise_scan};

/// Every node sends to all that follow.
void append_direct_scan(ScheduleBuilder& builder, ScanVector& vector);
inline constexpr Exchange kDirectScan{.order = OperandOrder::canonical, .scan = append_direct_scan};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_SCAN_EXCHANGE_H_
