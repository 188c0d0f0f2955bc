#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_RECURSIVE_HALVING_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_RECURSIVE_HALVING_H_

#include <vector>

#include "collectives/algorithms/parts/fold.h"
#include "collectives/algorithms/parts/node_phases.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// Whose vector is halved first with whom.
enum class HalvingOrder {
  far_first,   ///< Partner i ends up with part i. The operands are in no particular order.
  near_first,  ///< Partner i ends up with the part whose number is i with its bits reversed. The
               ///< operands form the canonical tree.
};

/// Recursive halving in one lane: a reduce-scatter among p = 2^k partners, and the folding of the
/// remaining nodes before it. In every step a partner gives away half of what it works on and
/// combines the other half with what it gets; after k steps it holds one combined part. See
/// reduce_scatter/halving.cc and reduce/halving.cc for what follows.
class RecursiveHalving {
 public:
  /// `parts[i]` are the chunks of part i, one or more ranges that follow each other as the parts
  /// do. `sums` and `strands` are by node, and so are `accumulators`: places that may be written
  /// where a node's sum may not, for the nodes in whose scratch this is not to be; empty for the
  /// others.
  RecursiveHalving(ScheduleBuilder& builder, HalvingOrder order, int lane,
                   std::vector<Partner> partners, std::vector<std::vector<ChunkRange>> parts,
                   const std::vector<StrandId>& strands, std::vector<NodeSum>& sums,
                   std::vector<std::vector<Span>> accumulators);

  /// Appends folding and halving.
  void append();

  const std::vector<Partner>& partners() const noexcept { return partners_; }
  int partner_count() const noexcept { return static_cast<int>(partners_.size()); }

  /// Which part a partner ends up with, and the partner that ends up with a part: with either order
  /// the one is the inverse of itself.
  int part_of(int partner) const;

  /// The ranges of the parts [first, first + count), neighbouring ones merged.
  std::vector<ChunkRange> ranges(int first, int count) const;

  /// Where a partner holds what it has combined, and may hold more.
  Span held(int partner, ChunkRange chunks) const;

 private:
  struct Parts {
    int first;
    int count;
  };
  struct Halves {
    Parts kept;
    Parts given;
  };

  void prepare(int partner);
  void fold(int partner);
  void halve(int partner, int distance);
  Halves halves(int partner, int distance) const;
  Span current(int partner, ChunkRange chunks);
  int acting(int partner) const { return partners_[static_cast<std::size_t>(partner)].acting; }
  StrandId strand(int partner) const { return strands_[static_cast<std::size_t>(acting(partner))]; }
  NodeSum& sum(int partner) { return sums_[static_cast<std::size_t>(acting(partner))]; }

  ScheduleBuilder& builder_;
  HalvingOrder order_;
  int lane_;
  std::vector<Partner> partners_;
  std::vector<std::vector<ChunkRange>> parts_;
  const std::vector<StrandId>& strands_;
  std::vector<NodeSum>& sums_;
  std::vector<std::vector<Span>> accumulators_;  // by node
  std::vector<std::vector<Span>> received_;      // by partner
  std::vector<bool> has_combined_;               // by partner: the accumulator is in use
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_RECURSIVE_HALVING_H_
