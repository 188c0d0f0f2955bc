#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_EXCHANGES_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_EXCHANGES_EXCHANGE_H_

#include <vector>

#include "core/schedule/builder.h"

namespace hycoll {

/// How the leaders of one lane combine their vectors between the nodes. Each kind is one file
/// (in this folder) with one pure function, and serves flat, hierarchical and multi-leader
/// collectives alike.
enum class Exchange {
  recursive_doubling,
  ring,
  halving_doubling,
  native,
  binomial,
  chain,
  aggregation_tree,
};

std::string_view name_of(Exchange exchange) noexcept;

/// What stands for a buffer that is not there.
inline constexpr BufferId kNoBuffer = -1;

/// One lane's part of the vector on every node: what an exchange works on. The vectors of all nodes
/// are indexed by node. Aggregators have neither source nor result, and only the aggregation tree
/// knows them.
struct LaneVector {
  int lane;
  ChunkRange chunks;
  std::vector<StrandId> strands;  ///< The leader's strand.
  std::vector<BufferId>
      sources;  ///< The node's contribution; only read, unless it is the result itself.
  std::vector<BufferId> results;  ///< Where the combined vector ends up.
  std::vector<int> order = {};    ///< The nodes in the order of a chain; empty: as numbered.
};

/// The number of chunks that an exchange needs of each lane, with messages cut into `segments`
/// parts. The ring and recursive doubling are segmented; the others ignore it.
int chunks_per_lane(Exchange exchange, int node_count, int segments) noexcept;

/// Appends the exchange of one lane to every node's strand: afterwards, in strand order, every
/// result holds the combination of all sources. With one node it copies. The chunk count is as
/// chunks_per_lane says.
void append_exchange(ScheduleBuilder& builder, Exchange exchange, const LaneVector& vector);

/// The kinds, for append_exchange; each is described in its file. They require at least two nodes.
void append_recursive_doubling(ScheduleBuilder& builder, const LaneVector& vector);
void append_ring(ScheduleBuilder& builder, const LaneVector& vector);
void append_halving_doubling(ScheduleBuilder& builder, const LaneVector& vector);
void append_native(ScheduleBuilder& builder, const LaneVector& vector);
void append_binomial(ScheduleBuilder& builder, const LaneVector& vector);
void append_chain(ScheduleBuilder& builder, const LaneVector& vector);
/// Requires a shape that has_aggregators_last accepts (aggregation.h).
void append_aggregation_tree(ScheduleBuilder& builder, const LaneVector& vector);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_EXCHANGES_EXCHANGE_H_
