#include "collectives/algorithms/building_blocks/rooted_parts.h"

#include <iterator>
#include <ranges>

#include "collectives/algorithms/building_blocks/shares.h"

namespace hycoll {
namespace {

/// The ranges of the parts from a number down.
std::vector<ChunkRange> subtree(const PartsTree& tree, const RootedParts& parts, int number) {
  return parts.chunks(number, tree.subtree_size(number, parts.nodes.count));
}

}  // namespace

RootedParts rooted_shares(const ScheduleBuilder& builder, int node, int lane) {
  const Shape& shape = builder.shape();
  const NodesFromRoot nodes{.root_node = shape.node_of_member(builder.root()),
                            .count = shape.node_count()};
  return {.lane = lane,
          .nodes = nodes,
          .number = nodes.number_of(node),
          .chunks =
              [nodes, shares = shares_of(builder, lane)](int first, int count) {
                std::vector<ChunkRange> ranges;
                for (const ChunkRange& range :
                     cyclic_ranges(nodes.node_of(first), count, nodes.count)) {
                  std::ranges::copy(shares.ranges(range.first, range.count),
                                    std::back_inserter(ranges));
                }
                return ranges;
              },
          .strand = kElsewhere,
          .places = {}};
}

std::vector<ChunkRange> ranges_below(const PartsTree& tree, const RootedParts& parts) {
  if (!parts.is_at_root()) return subtree(tree, parts, parts.number);
  const int others = parts.nodes.count - 1;
  return others > 0 ? parts.chunks(1, others) : std::vector<ChunkRange>();
}

bool is_leaf(const PartsTree& tree, const RootedParts& parts) {
  return tree.subtree_size(parts.number, parts.nodes.count) == 1;
}

void append_parts_scatter(ScheduleBuilder& builder, const PartsTree& tree,
                          const RootedParts& parts) {
  const auto [parent, children] = tree.place(parts.number, parts.nodes.count);
  if (parent >= 0) {
    for (const ChunkRange& range : subtree(tree, parts, parts.number)) {
      builder.recv(parts.strand, parts.lane, parts.nodes.node_of(parent),
                   place_of(parts.places, range));
    }
    if (parts.on_arrival) parts.on_arrival();
  }
  for (const int child : children) {
    for (const ChunkRange& range : subtree(tree, parts, child)) {
      builder.send(parts.strand, parts.lane, parts.nodes.node_of(child),
                   place_of(parts.places, range));
    }
  }
}

void append_parts_gather(ScheduleBuilder& builder, const PartsTree& tree,
                         const RootedParts& parts) {
  const auto [parent, children] = tree.place(parts.number, parts.nodes.count);
  for (const int child : children | std::views::reverse) {
    for (const ChunkRange& range : subtree(tree, parts, child)) {
      builder.recv(parts.strand, parts.lane, parts.nodes.node_of(child),
                   place_of(parts.places, range));
    }
  }
  if (parts.collect) parts.collect();
  if (parent < 0) return;
  for (const ChunkRange& range : subtree(tree, parts, parts.number)) {
    builder.send(parts.strand, parts.lane, parts.nodes.node_of(parent),
                 place_of(parts.places, range));
  }
}

}  // namespace hycoll
