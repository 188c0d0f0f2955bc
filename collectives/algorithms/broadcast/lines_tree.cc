// Lines along a tree: broadcast of short vectors among many members of a node.
//
// Idea: the vector goes down the tree of allreduce/lines_tree.cc, whose root is the broadcast's
// root or, on the other nodes, their leader: the members of a group read one line of the one that
// leads it. Nobody leaves before everybody on the node has entered: members say so up the tree, and
// the vector comes down when all have, so whoever has got it knows. (In lines.cc everybody looks
// for himself, at M - 1 cache lines, which pays while members run ahead of one another.)
//
// Source: as allreduce/lines_tree.cc.
// Steps: with l levels of groups 2 (l + 1) transfers that follow one another on a single node.
// Cost: 2 (M - 1) cache lines on every node, half of them with n elements.
// Serves: any shape with one lane whose leaders own a member, since leaders write lines.
//
// Example, 1 node of 4 members in groups of 2, root 0: 3 tells 2 that it has entered, 1 and 2 tell
// 0, which writes a line; 1 and 2 read it, and 3 that of 2.

#include "collectives/algorithms/building_blocks/lines_tree.h"

#include <utility>

#include "collectives/algorithms/broadcast/broadcast.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// `source`, a buffer of the tree's root, reaches all others of its node, when all have entered.
void append_publication(LinesTree& tree, Span source) {
  tree.await_subtree(tree.tree().root());
  tree.pass_down(tree.tree().root(), source);
}

void append_node(ScheduleBuilder& builder, int node, const Exchange& exchange,
                 BroadcastVector vector) {
  const Shape& shape = builder.shape();
  const int leading = shape.leader(node, 0) - shape.first_worker(node) + shape.first_member(node);
  const int owner = vector.is_at_root() ? builder.root() : leading;
  LinesTree tree(builder, node, MemberTree(shape, node, owner), Entry::announced);
  const BufferId source = vector.is_at_root() ? builder.input(owner) : builder.output(owner);
  vector.strand = tree.phases().strand(leading);
  vector.place = leading == builder.root() ? source : builder.output(leading);
  vector.on_arrival = [](ChunkRange) {};
  // A leader that is not the root gets the vector through the node first.
  const bool publishes_first = leading != owner;
  const Span published = span_of(source, vector.chunks);
  if (publishes_first) append_publication(tree, published);
  append_broadcast_exchange(builder, exchange, vector);
  if (!publishes_first) append_publication(tree, published);
}

}  // namespace

Schedule generate_lines_tree_broadcast(std::string name, const Shape& shape,
                                       const GeneratorParameters& parameters) {
  const Exchange& exchange = parameters.exchange;
  HYCOLL_ASSERT(shape.lane_count() == 1, "lines serve one lane");
  const int chunk_count =
      broadcast_chunks_per_lane(exchange, shape.node_count(), parameters.segments);
  ScheduleBuilder builder(Collective::broadcast, std::move(name), shape, chunk_count,
                          parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    append_node(
        builder, node, exchange,
        broadcast_vector(builder, node, 0, parameters.segments, OnArrival::after_passing_on));
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
