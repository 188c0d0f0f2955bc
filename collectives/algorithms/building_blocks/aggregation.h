#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_AGGREGATION_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_AGGREGATION_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "core/schedule/builder.h"

namespace hycoll {

/// The nodes before the first one that has no members.
int host_count(const Shape& shape);

/// Whether the shape has hosts, then aggregators, with direct visibility.
bool has_aggregators_last(const Shape& shape);

/// The tree of aggregators above the nodes that have members (the hosts). What a vertex combines is
/// a range of neighbouring hosts, so operands stay in rank order.
///
/// Aggregators in the order of their numbers each take the next nodes from left to right, then
/// again from the left over what is left over, until one is left. H hosts and A aggregators make (H
/// - 1 + A) / A children for each, rounded up or down. More than max(1, H - 1) aggregators are not
/// used. Keeps the passes from left to right, whose number goes with the logarithm of H; a node's
/// place is computed from them.
class AggregationTree {
 public:
  /// Requires has_aggregators_last.
  explicit AggregationTree(const Shape& shape);

  int host_count() const noexcept { return passes_.front().roots; }
  bool is_host(int node) const noexcept { return node < host_count(); }
  /// Of those that are used. Children have lower numbers than their parents; the last is the root.
  int aggregator_count() const noexcept { return passes_.back().first_aggregator; }
  bool is_used(int aggregator) const noexcept {
    return aggregator < host_count() + aggregator_count();
  }

  /// A node, -1 for the root. Requires a host, or an aggregator that is used.
  int parent(int node) const;
  /// Nodes, hosts or aggregators, in rank order. Requires an aggregator that is used.
  std::vector<int> children(int aggregator) const;

 private:
  /// One pass from left to right over the roots of the trees so far. Those that its aggregators do
  /// not take come behind these in the next one.
  struct Pass {
    int roots;
    int first_aggregator;  // of the used ones
    int wide = 0;          // aggregators of fan_in_ + 1 children, before those of fan_in_
    int narrow = 0;
  };

  int aggregators_of(const Pass& pass) const { return pass.wide + pass.narrow; }
  /// Where the children of a pass's aggregator begin among its roots.
  int first_child(const Pass& pass, int index) const {
    return index * fan_in_ + std::min(index, pass.wide);
  }
  /// How many roots a pass takes.
  int taken(const Pass& pass) const { return first_child(pass, aggregators_of(pass)); }
  /// The pass in which an aggregator takes its children.
  std::size_t pass_of(int aggregator) const;
  int root_at(std::size_t pass, int position) const;

  int fan_in_;                // rounded down
  std::vector<Pass> passes_;  // and behind them one that has the root only
};

/// What a host sends into the tree and gets back, on one lane.
struct Contribution {
  int lane;
  StrandId strand;
  BufferId source;
  BufferId result;
};

/// A part of the vector on its way through the tree, on one node.
struct AggregatedPart {
  int node;
  ChunkRange chunks;
  std::vector<Contribution> contributions;  ///< Of a host, in rank order.
  StrandId strand;  ///< Of an aggregator, whose one worker leads all lanes that are used.
  /// The lanes on which a host contributes, in rank order.
  std::function<std::vector<int>(int host)> lanes;
};

/// Appends what a node does on the way of one part: up to the root, which combines everything, and
/// down to every contribution's result. See aggregation.cc.
void append_aggregation(ScheduleBuilder& builder, const AggregationTree& tree,
                        const AggregatedPart& part);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_AGGREGATION_H_
