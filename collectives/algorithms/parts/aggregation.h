#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_AGGREGATION_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_AGGREGATION_H_

#include <functional>
#include <string_view>
#include <vector>

#include "core/schedule/builder.h"

namespace hycoll {

/// The tree of aggregators above the nodes that have members (the hosts). What a vertex combines is
/// a range of neighbouring hosts, so operands stay in rank order.
struct AggregationTree {
  struct Vertex {
    int node;                   ///< An aggregator.
    int parent = -1;            ///< A node; -1 for the root.
    std::vector<int> children;  ///< Nodes, hosts or aggregators, in rank order.
  };
  std::vector<Vertex> vertices;   ///< Children before their parents; the root is the last.
  std::vector<int> host_parents;  ///< By host.
};

/// The nodes before the first one that has no members.
int host_count(const Shape& shape);

/// Whether the shape has hosts, then aggregators, with direct visibility.
bool has_aggregators_last(const Shape& shape);

/// The tree of a shape: aggregators in the order of their numbers each take the next nodes from
/// left to right, then again from the left over what is left over, until one is left. H hosts and A
/// aggregators make (H - 1 + A) / A children for each, rounded up or down. More than max(1, H - 1)
/// aggregators are not used. Requires has_aggregators_last.
AggregationTree aggregation_tree(const Shape& shape);

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

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_AGGREGATION_H_
