// Chain: reduce along a ring to its last node, then broadcast back along it.
//
// Idea: the first node sends its contribution to the second, which adds its own and passes the sum
// on, up to the last node, the root. The result then goes back the same way. Each node sends the
// vector at most twice, once in each direction, so a ring's links carry it once in each direction
// and its closing link nothing. Alone this is slow; with many parts in flight (one call of this
// function each) all nodes work at once.
//
// Source: A. Mamidala et al., Optimizing MPI Collectives Using Efficient Intra-node Communication
// Techniques over the Blue Gene/P Supercomputer, 2009, section 5.C.1: a ring reduces to a root,
// which broadcasts, both pipelined and on the routes of one colour. The paper leaves the way of the
// broadcast open; back along the ring loads both directions of every link alike.
// Steps: 2 (N - 1); with k parts in flight 2 (N - 1) + k - 1 at the length of a part, where the
// ring of ring.cc needs 2 (N - 1) at the length of an N-th.
// Sent: 2 n elements by every node but the first and the last, which send n.
// Scratch: n on every node but the first.
// Serves: any number of nodes, in the order of which the LaneVector gives the place.
//
// Example, order 0, 2, 1 with the values a, b, c: node 0 sends a to node 2, which sends ac to node
// 1, which holds acb and sends it to node 2, which sends it to node 0.

#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/building_blocks/trees.h"

namespace hycoll {
namespace {

/// The root is number 0, the last node.
TreePlace place_in_chain_of_nodes(int node, int node_count) {
  const auto node_of = [&](int number) { return node_count - 1 - number; };
  return renamed(place_in_chain(node_of(node), node_count), node_of);
}

}  // namespace

void append_chain(ScheduleBuilder& builder, const LaneVector& vector) {
  const TreePlace place =
      vector.place.value_or(place_in_chain_of_nodes(vector.node, builder.shape().node_count()));
  append_reduce_and_broadcast(builder, place, ChildOperand::left, vector);
}

}  // namespace hycoll
