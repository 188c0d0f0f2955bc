#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_EXCHANGES_FOLD_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_EXCHANGES_FOLD_H_

#include <vector>

#include "collectives/algorithms/exchanges/exchange.h"

namespace hycoll {

/// Exchanges by pairs need a power of two of partners. With N nodes and p the largest power of two
/// <= N, the first 2 (N - p) nodes fold in pairs before (the even one gives its vector to the odd
/// one) and unfold after (it gets the result back). What lies between sees p partners in node
/// order.
///
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication
/// Operations in MPICH, 2005. Cost on top of what lies between: 2 steps and 2 n elements sent by
/// the nodes that fold.
class PairwiseFold {
 public:
  /// Appends the folding. `scratch[node]` receives whole lane vectors.
  PairwiseFold(ScheduleBuilder& builder, const LaneVector& vector,
               const std::vector<BufferId>& scratch);

  int partner_count() const noexcept { return static_cast<int>(nodes_.size()); }

  /// The node that stands for a partner.
  int node(int partner) const { return nodes_[static_cast<std::size_t>(partner)]; }

  /// The buffer that holds the partner's vector after folding: its source, or its result if it has
  /// folded.
  BufferId folded(int partner) const { return folded_[static_cast<std::size_t>(partner)]; }

  /// Appends the unfolding.
  void unfold(ScheduleBuilder& builder, const LaneVector& vector) const;

 private:
  std::vector<int> nodes_;
  std::vector<BufferId> folded_;
  int fold_count_;
};

/// A scratch buffer for the lane's chunks at each node's leader.
std::vector<BufferId> add_lane_scratch(ScheduleBuilder& builder, const LaneVector& vector);

/// `a` and `b` hold the parts of nodes `node_a` and `node_b`: the result's operands in node order.
void reduce_in_node_order(ScheduleBuilder& builder, StrandId strand, Span result, int node_a,
                          Span a, int node_b, Span b);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_EXCHANGES_FOLD_H_
