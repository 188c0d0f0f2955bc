// Lines along a tree: reduce of short vectors among many members of a node.
//
// Idea: the lines go up the tree of allreduce/lines_tree.cc to the root, who leads every group that
// it is in; with more nodes to the member that leads the node, which takes part in the exchange.
// Nobody leaves before everybody has entered: whoever has got the sum of its node knows, and lets
// the others leave down the same tree, by a flag for each group. (In lines.cc everybody looks for
// himself, at M - 1 cache lines.)
//
// Source: as allreduce/lines_tree.cc.
// Steps: with l levels of groups 2 (l + 1) transfers that follow one another on a single node.
// Cost: 2 (M - 1) cache lines on every node, half of them with n elements.
// Serves: any shape with one lane whose leaders own a member, since leaders read lines.
//
// Example, 1 node of 4 members in groups of 2, root 3: member 3 reads 2's line, and 0 that of 1; 3
// reads the sum ab of member 0, computes ab c d, and raises a flag that 0 and 2 wait for; 0 one for
// 1.

#include "collectives/algorithms/building_blocks/lines_tree.h"

#include <utility>

#include "collectives/algorithms/reduce/reduce.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

/// Where a member keeps a sum: only the root has an output.
Span place_of_sum(ScheduleBuilder& builder, int member) {
  const BufferId buffer =
      member == builder.root()
          ? builder.output(member)
          : builder.add_scratch(builder.shape().worker_of_member(member), builder.all_chunks());
  return span_of(buffer, builder.all_chunks());
}

/// The inputs of a node reach the member at the root of its tree.
Span append_node_sum(ScheduleBuilder& builder, LinesTree& tree) {
  const Span sum =
      tree.gather(tree.tree().root(), [&](int member) { return place_of_sum(builder, member); });
  tree.release(tree.tree().root(), builder.root());
  return sum;
}

void append_single_node(ScheduleBuilder& builder) {
  LinesTree tree(builder, 0, MemberTree(builder.shape(), 0, builder.root()), Entry::silent);
  const Span sum = append_node_sum(builder, tree);
  if (tree.tree().member_count() > 1) return;
  builder.copy(tree.phases().strand(builder.root()),
               span_of(builder.output(builder.root()), builder.all_chunks()), sum);
}

/// One node of several.
void append_node(ScheduleBuilder& builder, int node, int segments, const Exchange& exchange) {
  const Shape& shape = builder.shape();
  const int root_node = shape.node_of_member(builder.root());
  const bool is_at_root = node == root_node;
  const int leading = shape.leader(node, 0) - shape.first_worker(node) + shape.first_member(node);
  LinesTree tree(builder, node, MemberTree(shape, node, leading), Entry::silent);
  const Span sum = append_node_sum(builder, tree);
  const bool sum_is_input = tree.tree().member_count() == 1;
  const Span place = sum_is_input && is_at_root ? place_of_sum(builder, leading) : sum;
  RootedVector vector{.lane = 0,
                      .chunks = builder.all_chunks(),
                      .segments = segments,
                      .node = node,
                      .root_node = root_node,
                      .strand = tree.phases().strand(leading),
                      .sum = {builder, sum},
                      .result = place};
  append_rooted_exchange(builder, exchange, vector);
  if (!is_at_root || leading == builder.root()) return;
  const Span lines = tree.phases().publish(leading, place);
  builder.copy(tree.phases().strand(builder.root()),
               span_of(builder.output(builder.root()), builder.all_chunks()), lines);
}

}  // namespace

Schedule generate_lines_tree_reduce(std::string name, const Shape& shape,
                                    const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "lines serve one lane");
  const bool is_alone = shape.node_count() == 1;
  const int segments = is_alone ? 1 : parameters.segments;
  const int chunk_count =
      is_alone ? 1 : parameters.exchange.chunks_per_lane(shape.node_count(), segments);
  ScheduleBuilder builder(Collective::reduce, std::move(name), shape, chunk_count, parameters.root,
                          parameters.nodes);
  for (const int node : builder.nodes()) {
    if (is_alone) {
      append_single_node(builder);
    } else {
      append_node(builder, node, segments, parameters.exchange);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
