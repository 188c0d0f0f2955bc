#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_SCAN_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_SCAN_EXCHANGE_H_

#include <functional>
#include <vector>

#include "collectives/algorithms/exchanges/exchange.h"
#include "collectives/algorithms/parts/node_phases.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// How the leaders of one lane find out what precedes their nodes. Each kind is one file
/// (scan_*.cc) with one pure function. The operands always stand in rank order.
enum class ScanExchange {
  recursive_doubling,  ///< By nodes at distances 1, 2, 4, ...
  chain,               ///< From node to node.
  pairwise,            ///< Every node scans one block of the vector for all.
  direct,              ///< Every node sends to all that follow.
};

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

/// One lane's part of the vector on every node.
struct ScanVector {
  int lane;
  ChunkRange chunks;
  int segments;  ///< Parts that are handled one after the other, of as many chunks each.
  std::vector<ScanNode> nodes;
  /// Called for each range of chunks of a node when the steps that complete it have been appended;
  /// may append what is to follow.
  std::function<void(int node, ChunkRange chunks)> on_prefix = [](int, ChunkRange) {};
};

/// The number of chunks that an exchange needs of each lane. Pairwise and direct ignore the
/// segments.
int scan_chunks_per_lane(ScanExchange exchange, int node_count, int segments) noexcept;

/// Appends the exchange of one lane to every node's strand: afterwards, in strand order, the
/// combinations are where ScanNode says.
void append_scan_exchange(ScheduleBuilder& builder, ScanExchange exchange, ScanVector& vector);

/// The kinds, for append_scan_exchange; each is described in its file. They require at least two
/// nodes.
void append_doubling_scan(ScheduleBuilder& builder, ScanVector& vector);
void append_chain_scan(ScheduleBuilder& builder, ScanVector& vector);
void append_pairwise_scan(ScheduleBuilder& builder, ScanVector& vector);
void append_direct_scan(ScheduleBuilder& builder, ScanVector& vector);

/// Where a node may receive what is to end up in its exclusive place, and combine it with its sum
/// afterwards: there, unless this is an output, which may be the memory of the sum, or nowhere.
BufferId place_of_received(ScheduleBuilder& builder, const ScanVector& vector, int node);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_SCAN_EXCHANGE_H_
