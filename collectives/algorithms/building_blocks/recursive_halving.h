#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_RECURSIVE_HALVING_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_RECURSIVE_HALVING_H_

#include <vector>

#include "collectives/algorithms/building_blocks/chunks.h"
#include "collectives/algorithms/building_blocks/fold.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// Whose vector is halved first with whom.
enum class HalvingOrder {
  far_first,   ///< Partner i ends up with part i. The operands are in no particular order.
  near_first,  ///< Partner i ends up with the part whose number is i with its bits reversed. The
               ///< operands form the canonical tree.
};

/// What is halved on one node, in one lane.
struct HalvedVector {
  int lane;
  int node;
  Fold fold;            ///< Of all nodes: its partners halve.
  ChunksOfParts parts;  ///< The chunks of neighbouring parts; there is a part for each partner.
  StrandId strand;      ///< The leader's.
  NodeSum& sum;         ///< The node's contribution; used up.
  /// Places to combine in, that may be written; empty: the sum's, or scratch where these may not.
  std::vector<Span> accumulator = {};
};

/// What a node does in recursive halving: a reduce-scatter among p = 2^k partners, and the folding
/// of the remaining nodes before it. In every step a partner gives away half of what it works on
/// and combines the other half with what it gets; after k steps it holds one combined part. See
/// reduce_scatter/halving.cc and reduce/halving.cc for what follows.
class RecursiveHalving {
 public:
  RecursiveHalving(ScheduleBuilder& builder, HalvingOrder order, HalvedVector vector);

  /// Appends folding and halving.
  void append();

  const Fold& fold() const noexcept { return vector_.fold; }
  int partner_count() const noexcept { return fold().partner_count(); }

  /// The node's partner, and whether the node acts for it: it holds nothing otherwise.
  int partner() const { return fold().partner_of(vector_.node); }
  bool acts() const { return fold().acts(vector_.node); }

  /// Which part a partner ends up with, and the partner that ends up with a part: with either order
  /// the one is the inverse of itself.
  int part_of(int partner) const;

  /// The ranges of the parts [first, first + count), neighbouring ones merged.
  std::vector<ChunkRange> ranges(int first, int count) const { return vector_.parts(first, count); }

  /// Where the node holds what it has combined, and may hold more. Requires that it acts.
  Span held(ChunkRange chunks) const;

 private:
  struct Parts {
    int first;
    int count;
  };
  struct Halves {
    Parts kept;
    Parts given;
  };

  void prepare();
  void fold_pair();
  void halve(int distance);
  Halves halves(int distance) const;
  Span current(ChunkRange chunks);

  ScheduleBuilder& builder_;
  HalvingOrder order_;
  HalvedVector vector_;
  std::vector<Span> received_;
  bool has_combined_ = false;  // the accumulator is in use
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_RECURSIVE_HALVING_H_
