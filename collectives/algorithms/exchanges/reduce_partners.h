#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_EXCHANGES_REDUCE_PARTNERS_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_EXCHANGES_REDUCE_PARTNERS_H_

#include <vector>

namespace hycoll {

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

/// The partners of PairwiseFold (fold.h), in node order: with p the largest power of two <= N, the
/// first 2 (N - p) nodes in pairs, then the others alone. The later node of a pair acts, unless the
/// earlier one is `preferred` (a root, for instance); the tree of the operands is the same.
std::vector<Partner> fold_partners(int node_count, int preferred = -1);

/// The index of the partner that a node belongs to.
int partner_of(const std::vector<Partner>& partners, int node);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_EXCHANGES_REDUCE_PARTNERS_H_
