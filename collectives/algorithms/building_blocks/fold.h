#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_FOLD_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_FOLD_H_

#include <functional>

#include "core/schedule/builder.h"

namespace hycoll {

// Exchanges by pairs need a power of two of partners. With N nodes and p the largest power of two
// <= N, the first 2 (N - p) nodes fold in pairs before (one gives its vector to the other one,
// which acts for both) and unfold after (it gets the result back). What lies between sees p
// partners in node order, and combines them in a binary tree: the canonical one.
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication
// Operations in MPICH, 2005. Cost on top of what lies between: 2 steps and 2 n elements sent by
// the nodes that fold.

/// One or two neighbouring nodes that take part in a tree of pairs as one.
struct Partner {
  int first_node;
  int node_count;  ///< 1 or 2.
  int acting;      ///< The node that exchanges with other partners' acting nodes.

  /// The other node, which hands its vector to the acting one; -1 if there is none.
  int folding() const noexcept {
    return node_count == 1 ? -1 : acting == first_node ? first_node + 1 : first_node;
  }
};

/// The partners of a number of nodes, in node order. The later node of a pair acts, unless the
/// earlier one is `preferred` (a root, for instance); the tree of the operands is the same.
class Fold {
 public:
  /// Requires at least one node.
  explicit Fold(int node_count, int preferred = -1);

  int partner_count() const noexcept { return partner_count_; }

  /// By index, and the index of the partner that a node belongs to.
  Partner partner(int index) const;
  int partner_of(int node) const noexcept;

  int acting(int index) const { return partner(index).acting; }
  bool acts(int node) const { return acting(partner_of(node)) == node; }

 private:
  int pair_count_;
  int partner_count_;
  int preferred_;
};

/// One lane of a node: its leader's strand.
struct FoldLane {
  int lane;
  StrandId strand;
};

/// The acting node receives what the one that folds sends, and combines it with `own()`, to be
/// asked for when the receive has been appended. Requires that one folds.
void append_fold(ScheduleBuilder& builder, const FoldLane& lane, const Partner& partner,
                 Span received, const std::function<Span()>& own, Span result);

/// What one of a partner's nodes does: the acting one sends the result to the one that has folded,
/// if one has, which receives it.
void append_unfold(ScheduleBuilder& builder, const FoldLane& lane, const Partner& partner, int node,
                   Span result);

/// `a` and `b` hold the parts of nodes `node_a` and `node_b`: the result's operands in node order.
void reduce_in_node_order(ScheduleBuilder& builder, StrandId strand, Span result, int node_a,
                          Span a, int node_b, Span b);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_FOLD_H_
