#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_ROOTED_PARTS_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_ROOTED_PARTS_H_

#include <functional>
#include <vector>

#include "collectives/algorithms/building_blocks/chunks.h"
#include "collectives/algorithms/building_blocks/exchange.h"
#include "collectives/algorithms/building_blocks/trees.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// A tree over the numbers of nodes, along which parts of a vector, one for each node, come from
/// the root's node or go to it: each message has the parts of all nodes from the lower one down,
/// which follow it without a gap.
struct PartsTree {
  TreePlace (*place)(int number, int count);
  int (*subtree_size)(int number, int count);
};

/// ceil(log2 N) steps.
inline constexpr PartsTree kBinomialPartsTree{place_in_binomial_tree, binomial_subtree_size};
inline constexpr Exchange kBinomialParts{.order = OperandOrder::canonical,
                                         .parts_tree = &kBinomialPartsTree};

/// Between every node and the root's: nothing passes through others.
inline constexpr PartsTree kLinearPartsTree{place_in_star, star_subtree_size};
inline constexpr Exchange kLinearParts{.order = OperandOrder::canonical,
                                       .messages = MessageSize::block,
                                       .parts_tree = &kLinearPartsTree};

/// One lane's parts of a vector, one for each node, on their way between the root's node and the
/// others: what one of the nodes knows of them. Parts have the numbers of their nodes.
struct RootedParts {
  int lane;
  NodesFromRoot nodes;
  int number;  ///< Of the node.
  ChunksOfParts chunks;
  StrandId strand;  ///< The leader's.
  /// Where the parts from the node down are or arrive, in the order of their chunks; of the root's
  /// own part nothing is asked.
  std::vector<Span> places;
  /// Scatter: appends what is done with parts that have arrived before they are passed on; may be
  /// null.
  std::function<void()> on_arrival = nullptr;
  /// Gather: appends what brings the node's own part to its place, while others' are under way; may
  /// be null.
  std::function<void()> collect = nullptr;

  bool is_at_root() const { return number == 0; }
};

/// Each lane's shares of the nodes' parts (shares.h). Strand, places and what is appended are still
/// to be filled in. The builder outlives the result.
RootedParts rooted_shares(const ScheduleBuilder& builder, int node, int lane);

/// The ranges of the parts from the node down. At the root's node: of all but its own.
std::vector<ChunkRange> ranges_below(const PartsTree& tree, const RootedParts& parts);

/// Whether no other node's parts pass through the node.
bool is_leaf(const PartsTree& tree, const RootedParts& parts);

// The whole is what all nodes append. With one node nothing passes between nodes.

/// Parts go down the tree.
void append_parts_scatter(ScheduleBuilder& builder, const PartsTree& tree,
                          const RootedParts& parts);

/// Parts go up the tree.
void append_parts_gather(ScheduleBuilder& builder, const PartsTree& tree, const RootedParts& parts);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_ROOTED_PARTS_H_
