// Binomial trees: reduce to node 0, then broadcast from it.
//
// Idea: in the step of distance d = 1, 2, 4, ... the nodes whose number is an odd multiple of d
// give what they have gathered to the node d below, which reduces it behind its own. What a node
// has gathered is always a range of nodes that begins with itself, so operands stand in node order.
// Then the result takes the same ways back, the longest first.
//
// Source: P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of
// Workstations, 2009, section 5: phases 2 and 3 of SMP-binomial.
// Steps: 2 ceil(log2 N).
// Sent: (N - 1) n elements up and as many down by all nodes together; node 0 alone sends and
// receives n ceil(log2 N), which is what the ring avoids.
// Scratch: n.
// Serves: any number of nodes.
//
// Example, 3 nodes with the values a, b, c: node 1 sends b to node 0, which holds ab; node 2 sends
// c to node 0, which holds abc; node 0 sends abc to node 2, then to node 1.

#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/building_blocks/trees.h"

namespace hycoll {

void append_binomial(ScheduleBuilder& builder, const LaneVector& vector) {
  append_reduce_and_broadcast(builder,
                              place_in_binomial_tree(vector.node, builder.shape().node_count()),
                              ChildOperand::right, vector);
}

}  // namespace hycoll
