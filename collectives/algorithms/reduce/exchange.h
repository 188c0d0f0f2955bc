#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_EXCHANGE_H_

#include <vector>

#include "collectives/algorithms/parts/node_phases.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// How the leaders of one lane combine their vectors at one of the nodes. Each kind is one file
/// with one pure function.
enum class RootedExchange {
  binomial,  ///< reduce_binomial.cc
  ring,      ///< Reduce-scatter over a ring, then gather: reduce_gather.cc.
  pairwise,  ///< Reduce-scatter by direct messages, then gather: reduce_gather.cc.
  halving,   ///< reduce_halving.cc
};

/// One lane's part of the vector on every node; what is indexed is indexed by node.
struct RootedVector {
  int lane;
  ChunkRange chunks;
  int segments;  ///< Parts that messages are cut into.
  int root_node;
  std::vector<StrandId> strands;  ///< The leader's strand.
  std::vector<NodeSum> sums;      ///< The node's contribution; used up.
  Span result;  ///< Where the combined vector ends up on the root's node. May be the sum's place
                ///< there.
};

/// The number of chunks that an exchange needs of each lane. Halving ignores the segments.
int rooted_chunks_per_lane(RootedExchange exchange, int node_count, int segments) noexcept;

/// Appends the exchange of one lane to every node's strand: afterwards, in strand order, the result
/// holds the combination of all sums. With one node the sum is copied, if it lies elsewhere.
void append_rooted_exchange(ScheduleBuilder& builder, RootedExchange exchange,
                            RootedVector& vector);

/// The kinds, for append_rooted_exchange; each is described in its file. They require at least two
/// nodes.
void append_binomial_reduce(ScheduleBuilder& builder, RootedVector& vector);
void append_halving_reduce(ScheduleBuilder& builder, RootedVector& vector);
void append_reduce_scatter_and_gather(ScheduleBuilder& builder, RootedExchange exchange,
                                      RootedVector& vector);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_EXCHANGE_H_
