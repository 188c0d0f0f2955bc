// Colours: every lane has a spanning tree of its own on a torus, and no two share a link.
//
// Idea: the nodes are laid out as a torus, the vector is cut into colours, one per lane, and each
// colour goes down its own tree: along the root's line first, from there along the next dimension,
// and so on, every node passing on each segment as soon as it has arrived. The torus of Blue Gene/P
// can broadcast along a line by itself; where no hardware does, a line is forwarded hop by hop. All
// links of the root work at once, so that a vector leaves it in the time of one colour.
//
// Source: A. Mamidala et al., Optimizing MPI Collectives Using Efficient Intra-node Communication
// Techniques over the Blue Gene/P Supercomputer, 2009, section 5.A. The trees: torus_trees.cc.
// Within the nodes: shared_address.cc, as in the paper's "Torus + Shaddr".
// Steps: at most the sum of (length - 1) over the dimensions, plus one, plus s - 1 for s segments.
// Messages: N - 1 for each lane and segment. Sent by the root: n; by any node at most 3 n / L per
// lane that it passes on.
// Serves: any number of nodes, any root. The torus is torus_dimensions(N). Disjoint are 6 colours
// on three dimensions of three nodes or more, 4 on two, 2 on one (a prime number of nodes); half as
// many where a dimension has two nodes. Further lanes use the trees again.
//
// Example, 4 x 3 nodes, 4 lanes, root 0: lane 0 goes from 0 to 1, 2 and 3 and from each of those
// along its column, last around to the column of the root; lane 1 goes first along the column;
// lanes 2 and 3 do the same backwards.

#include "collectives/algorithms/torus/torus.h"

#include "collectives/algorithms/broadcast/exchange.h"

namespace hycoll {

void append_torus_broadcast(ScheduleBuilder& builder, const BroadcastVector& vector) {
  const TorusDimensions torus = torus_dimensions(builder.shape().node_count());
  const EdgeDisjointTrees trees(torus, vector.root_node);
  append_broadcast_place(builder, trees.place(vector.lane % trees.count(), vector.node), vector);
}

}  // namespace hycoll
