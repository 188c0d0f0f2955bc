#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BROADCAST_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BROADCAST_EXCHANGE_H_

#include <functional>

#include "collectives/algorithms/building_blocks/allgather.h"
#include "collectives/algorithms/building_blocks/exchange.h"
#include "collectives/algorithms/building_blocks/trees.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// One lane's part of the vector on one node.
struct BroadcastVector {
  int lane;
  ChunkRange chunks;
  int segments;  ///< Parts that messages of a tree are cut into.
  int node;
  int root_node;
  OnArrival when;
  StrandId strand;  ///< The leader's.
  BufferId place;   ///< Where the chunks arrive; on the root's node, where they are.
  /// Appends what is done with chunks that have arrived, on another node than the root's. Called
  /// once for every chunk.
  std::function<void(ChunkRange chunks)> on_arrival;
  /// Trees only: appends what is waited for before chunks are sent; may be null.
  std::function<void(ChunkRange chunks)> before_sending = nullptr;

  bool is_at_root() const noexcept { return node == root_node; }
};

/// The part of a lane, one of as many equal ranges of chunks as there are lanes. The strand, the
/// place and what is appended are still to be filled in.
BroadcastVector broadcast_vector(const ScheduleBuilder& builder, int node, int lane, int segments,
                                 OnArrival when);

/// The number of chunks that an exchange needs of each lane.
int broadcast_chunks_per_lane(const Exchange& exchange, int node_count, int segments) noexcept;

/// Appends what the node does in the exchange of one lane. With one node nothing is to be done.
void append_broadcast_exchange(ScheduleBuilder& builder, const Exchange& exchange,
                               const BroadcastVector& vector);

/// Appends the way of the segments down a tree, in which the node has a place.
void append_broadcast_place(ScheduleBuilder& builder, const TreePlace& place,
                            const BroadcastVector& vector);

/// Whether an exchange is one by trees, which cut their messages into segments.
constexpr bool is_tree(const Exchange& exchange) noexcept {
  return exchange.segmentation == Segmentation::messages;
}

// How the leaders of one lane pass a vector on from one of the nodes to all others; each is
// described in its file.

// tree.cc
void append_binomial_broadcast(ScheduleBuilder& builder, const BroadcastVector& vector);
void append_knomial_broadcast(ScheduleBuilder& builder, const BroadcastVector& vector);
void append_chain_broadcast(ScheduleBuilder& builder, const BroadcastVector& vector);
// torus.cc
void append_torus_broadcast(ScheduleBuilder& builder, const BroadcastVector& vector);

constexpr Exchange tree_exchange(void (*append)(ScheduleBuilder&, const BroadcastVector&)) {
  return {.order = OperandOrder::canonical,
          .segmentation = Segmentation::messages,
          .messages = MessageSize::passed_on,
          .chunks_per_lane = chunk_per_segment,
          .broadcast = append};
}
inline constexpr Exchange kBinomialBroadcast = tree_exchange(append_binomial_broadcast);
inline constexpr Exchange kKnomialBroadcast = tree_exchange(append_knomial_broadcast);
inline constexpr Exchange kChainBroadcast = tree_exchange(append_chain_broadcast);
inline constexpr Exchange kTorusBroadcast = tree_exchange(append_torus_broadcast);

// scatter_allgather.cc
void append_scatter_ring(ScheduleBuilder& builder, const BroadcastVector& vector);
void append_scatter_ring_opt(ScheduleBuilder& builder, const BroadcastVector& vector);
void append_scatter_circulant(ScheduleBuilder& builder, const BroadcastVector& vector);
void append_scatter_doubling(ScheduleBuilder& builder, const BroadcastVector& vector);
void append_scatter_doubling_opt(ScheduleBuilder& builder, const BroadcastVector& vector);

constexpr Exchange scatter_exchange(void (*append)(ScheduleBuilder&, const BroadcastVector&)) {
  return {.order = OperandOrder::canonical,
          .messages = MessageSize::block,
          .chunks_per_lane = chunk_per_node,
          .broadcast = append};
}
inline constexpr Exchange kScatterRing = scatter_exchange(append_scatter_ring);
inline constexpr Exchange kScatterRingOpt = scatter_exchange(append_scatter_ring_opt);
inline constexpr Exchange kScatterCirculant = scatter_exchange(append_scatter_circulant);
constexpr Exchange for_powers_of_two(Exchange exchange) {
  exchange.nodes_served = NodesServed::powers_of_two;
  return exchange;
}
inline constexpr Exchange kScatterDoubling =
    for_powers_of_two(scatter_exchange(append_scatter_doubling));
inline constexpr Exchange kScatterDoublingOpt =
    for_powers_of_two(scatter_exchange(append_scatter_doubling_opt));

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BROADCAST_EXCHANGE_H_
