#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_EXCHANGE_H_

#include <functional>
#include <vector>

#include "collectives/algorithms/building_blocks/exchange.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// What one lane's leader exchanges in one round: all that its node has for the node at a distance
/// in front of it, or a part of that, and the same of the node at this distance behind it.
struct TileRound {
  int to_node;
  ChunkRange sent;
  int from_node;
  ChunkRange received;
  /// What it gathers and receives lies where that of other rounds of the same slot does; -1: it has
  /// a place of its own.
  int slot = -1;
};

/// What one lane does on one node. The whole is what all nodes append.
struct ExchangedTiles {
  int lane;
  int node;
  int worker;       ///< The leader.
  StrandId strand;  ///< Its.
  /// Exchanges of two nodes each: the lane's messages, cut into segments.
  std::vector<TileRound> rounds;
  /// Appends what puts together what a round sends; returns where it is then.
  std::function<Span(const TileRound& round)> gather;
  /// Where a round receives.
  std::function<Span(const TileRound& round)> place;
  /// Appends to a strand of the leader's what is done with what a round has received.
  std::function<void(const TileRound& round, StrandId strand)> scatter;
  /// Appends what is done inside the node, once, while messages are under way.
  std::function<void()> copy_inside;
  /// Whether a round's scattering is nothing: what it receives lies where it belongs.
  std::function<bool(const TileRound& round)> is_in_place;
  /// Exchanges that pass on others' tiles: the lane's share of what one node has for another one.
  std::function<ChunkRange(int from_node, int to_node)> tile;
  /// Appends what puts together a share that the node has for another one, and what is done with
  /// one that it has got.
  std::function<void(Span place, ChunkRange tile)> collect;
  std::function<void(ChunkRange tile, Span place)> deliver;
};

/// Every receive first, then round by round what is sent as soon as it is put together; what has
/// arrived is scattered in any order: gathering, messages and scattering overlap.
void append_shifted_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles);

/// One round after the other: a message to one node and one from another are under way at a time.
void append_pairwise_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles);

/// The same with gathering, messages and scattering of two rounds at a time: in scratch for two
/// messages each way, however many there are, the leader gathers one while the one before is under
/// way.
void append_windowed_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles);

/// Three phases: everything is put together, then exchanged, then scattered.
void append_phased_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles);

/// Bruck's algorithm, of a radix of 2 or more: ceil(log_radix N) steps, in which nodes pass on what
/// is for others; see bruck.cc.
void append_bruck_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles, int radix);

template <int radix>
void append_bruck_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles) {
  append_bruck_alltoall(builder, tiles, radix);
}

inline constexpr Exchange kShiftedAlltoall{.order = OperandOrder::canonical,
                                           .messages = MessageSize::block,
                                           .alltoall = append_shifted_alltoall};
inline constexpr Exchange kPairwiseAlltoall{.order = OperandOrder::canonical,
                                            .messages = MessageSize::block,
                                            .alltoall = append_pairwise_alltoall};
inline constexpr Exchange kWindowedAlltoall{.order = OperandOrder::canonical,
                                            .segmentation = Segmentation::messages,
                                            .messages = MessageSize::block,
                                            .alltoall = append_windowed_alltoall};
inline constexpr Exchange kPhasedAlltoall{.order = OperandOrder::canonical,
                                          .messages = MessageSize::block,
                                          .alltoall = append_phased_alltoall};
template <int radix>
inline constexpr Exchange kBruckAlltoall{.order = OperandOrder::canonical,
                                         .passes_on_blocks = true,
                                         .alltoall = append_bruck_alltoall<radix>};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_EXCHANGE_H_
