#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_SCATTER_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_SCATTER_EXCHANGE_H_

#include <functional>
#include <vector>

#include "collectives/algorithms/parts/node_phases.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// How the leaders of one lane combine the parts of their vectors, each at the node that it belongs
/// to. Each kind is one file (reduce_scatter_*.cc) with one pure function.
enum class ReduceScatterExchange {
  pairwise,  ///< Every node sends to every other one.
  ring,
  halving,  ///< Recursive halving, far partners first: the fewest bytes, in any order of operands.
  butterfly,  ///< Recursive halving, near partners first: the canonical tree, and one step more.
};

/// One lane's part of the vector on every node, with a part of it for each of them; what is indexed
/// is indexed by node.
struct PartedVector {
  int lane;
  int segments;                            ///< Parts that the messages of pairwise and ring are cut
                                           ///< into.
  std::vector<ChunkRange> parts;           ///< What belongs to the node; in order, not empty.
  std::vector<StrandId> strands;           ///< The leader's strand.
  std::vector<NodeSum> sums;               ///< The node's contribution; used up.
  std::vector<std::vector<Span>> results;  ///< Where the node's part ends up: spans that cover it
                                           ///< in order.
  /// Called for each piece of a result when the steps that complete it have been appended; may
  /// append what is to follow. Pairwise and ring only.
  std::function<void(int node, Span result)> on_result = [](int, Span) {};
};

/// The parts of the nodes [first_node, first_node + node_count), neighbouring ones merged where
/// their chunks follow each other: each range is what one message can carry.
std::vector<ChunkRange> ranges_of_parts(const std::vector<ChunkRange>& parts, int first_node,
                                        int node_count);

/// A segment of a part.
ChunkRange segment_of(ChunkRange part, int segment_count, int segment);

/// Scratch of a worker for some ranges of chunks: one buffer each.
std::vector<Span> add_scratch_for(ScheduleBuilder& builder, int worker,
                                  const std::vector<ChunkRange>& ranges);

/// Appends the exchange of one lane to every node's strand: afterwards, in strand order, the result
/// of every node holds the combination of its part of all sums. Requires at least two nodes. For
/// pairwise and ring a sum has a place for every part, or for every piece of the own part's
/// result; for the others one for every range of ranges_of_parts over all nodes.
void append_reduce_scatter_exchange(ScheduleBuilder& builder, ReduceScatterExchange exchange,
                                    PartedVector& vector);

/// The kinds, for append_reduce_scatter_exchange; each is described in its file.
void append_pairwise_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector);
void append_ring_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector);
void append_halving_reduce_scatter(ScheduleBuilder& builder, ReduceScatterExchange exchange,
                                   PartedVector& vector);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_REDUCE_SCATTER_EXCHANGE_H_
