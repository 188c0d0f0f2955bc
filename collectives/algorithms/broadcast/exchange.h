#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BROADCAST_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BROADCAST_EXCHANGE_H_

#include <functional>
#include <span>
#include <vector>

#include "core/schedule/builder.h"

namespace hycoll {

/// How the leaders of one lane pass a vector on from one of the nodes to all others. Each kind is
/// described in its file.
enum class BroadcastExchange {
  binomial,          ///< broadcast_tree.cc
  knomial,           ///< broadcast_tree.cc
  chain,             ///< broadcast_tree.cc
  torus_colours,     ///< broadcast_torus.cc
  scatter_ring,      ///< broadcast_scatter_allgather.cc
  scatter_ring_opt,  ///< broadcast_scatter_allgather.cc
  scatter_doubling,  ///< broadcast_scatter_allgather.cc
};

/// When a leader does what is done with chunks that have arrived.
enum class OnArrival {
  before_passing_on,  ///< It takes no time, as an announcement.
  after_passing_on,   ///< It would keep the next node waiting, as a copy.
};

/// One lane's part of the vector on every node; what is indexed is indexed by node.
struct BroadcastVector {
  int lane;
  ChunkRange chunks;
  int segments;  ///< Parts that messages of a tree are cut into.
  int root_node;
  OnArrival when;
  std::vector<StrandId> strands;  ///< The leader's strand.
  std::vector<BufferId> places;   ///< Where the chunks arrive; on the root's node, where they are.
  /// Appends what is done on a node, other than the root's, with chunks that have arrived. Called
  /// once for every chunk.
  std::function<void(int node, ChunkRange chunks)> on_arrival;
  /// Trees only: appends what a node waits for before it sends chunks; may be null.
  std::function<void(int node, ChunkRange chunks)> before_sending = nullptr;
};

/// The part of a lane, one of as many equal ranges of chunks as there are lanes. Strands, places
/// and what is appended are still to be filled in.
BroadcastVector broadcast_vector(const ScheduleBuilder& builder, int lane, int segments,
                                 OnArrival when);

/// Where a node stands in a tree, by numbers of nodes.
struct TreePlace {
  int parent = -1;            ///< -1: it is the root.
  std::vector<int> children;  ///< In the order in which they are sent to.
};

/// The number of chunks that an exchange needs of each lane. Only trees use the segments.
int broadcast_chunks_per_lane(BroadcastExchange exchange, int node_count, int segments) noexcept;

/// Appends the exchange of one lane to every node's strand. With one node nothing is to be done.
void append_broadcast_exchange(ScheduleBuilder& builder, BroadcastExchange exchange,
                               const BroadcastVector& vector);

/// Appends the way of the segments down a tree; the places are by node.
void append_broadcast_places(ScheduleBuilder& builder, std::span<const TreePlace> places,
                             const BroadcastVector& vector);

/// Whether an exchange is one by trees, which cut their messages into segments.
constexpr bool is_tree(BroadcastExchange exchange) noexcept {
  return exchange <= BroadcastExchange::torus_colours;
}

/// The kinds, for append_broadcast_exchange. They require at least two nodes.
void append_broadcast_tree(ScheduleBuilder& builder, BroadcastExchange exchange,
                           const BroadcastVector& vector);
void append_broadcast_torus(ScheduleBuilder& builder, const BroadcastVector& vector);
void append_scatter_allgather(ScheduleBuilder& builder, BroadcastExchange exchange,
                              const BroadcastVector& vector);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BROADCAST_EXCHANGE_H_
