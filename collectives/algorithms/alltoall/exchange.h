#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_EXCHANGE_H_

#include <functional>
#include <vector>

#include "collectives/algorithms/parts/exchange.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// What one lane's leader exchanges in one round: all that its node has for the node at a distance
/// in front of it, or a part of that, and the same of the node at this distance behind it.
struct TileRound {
  int to_node;
  ChunkRange sent;
  int from_node;
  ChunkRange received;
};

/// The rounds of one lane on one node. The whole is what all nodes append.
struct ExchangedTiles {
  int lane;
  StrandId strand;  ///< The leader's.
  std::vector<TileRound> rounds;
  /// Appends what puts together what a round sends; returns where it is then.
  std::function<Span(const TileRound& round)> gather;
  /// Where a round receives.
  std::function<Span(const TileRound& round)> place;
  /// Appends what is done with what a round has received.
  std::function<void(const TileRound& round)> scatter;
};

/// Every receive first, then round by round what is sent as soon as it is put together, and then
/// what has arrived: gathering, messages and scattering overlap.
void append_shifted_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles);

/// One round after the other: a message to one node and one from another are under way at a time.
void append_pairwise_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles);

/// Three phases: everything is put together, then exchanged, then scattered.
void append_phased_alltoall(ScheduleBuilder& builder, const ExchangedTiles& tiles);

inline constexpr Exchange kShiftedAlltoall{.order = OperandOrder::canonical,
                                           .messages = MessageSize::block,
                                           .alltoall = append_shifted_alltoall};
inline constexpr Exchange kPairwiseAlltoall{.order = OperandOrder::canonical,
                                            .messages = MessageSize::block,
                                            .alltoall = append_pairwise_alltoall};
inline constexpr Exchange kPhasedAlltoall{.order = OperandOrder::canonical,
                                          .messages = MessageSize::block,
                                          .alltoall = append_phased_alltoall};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_ALLTOALL_EXCHANGE_H_
