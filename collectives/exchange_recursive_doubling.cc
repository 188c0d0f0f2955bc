// Recursive doubling.
//
// Idea: in step k every partner exchanges its whole vector with the partner whose number differs in
// bit k, and both reduce. After log2 p steps everybody holds the combination of all. The operands
// stand in node order, so the result has the same tree, hence the same bits, on every node.
//
// Source: DPML, section 5.1, equation 1 (its inter-node phase: equation 4); Thakur, Rabenseifner,
// Gropp 2005. Steps:  ceil(log2 N), and 2 more where N is not a power of two (fold.h). Sent:   n
// log2 p elements by every partner, p the largest power of two <= N. Serves: any number of nodes.
// Best for short vectors.
//
// Example, 3 nodes with the values a, b, c: p = 2. Fold: node 0 sends a to node 1, which holds ab.
// Partners are nodes 1 and 2: they exchange ab and c, both compute abc. Unfold: node 1 sends abc to
// node 0.

#include "collectives/exchange.h"
#include "collectives/fold.h"

namespace hycoll {

void append_recursive_doubling(ScheduleBuilder& builder, const LaneVector& vector) {
  const std::vector<BufferId> scratch = add_lane_scratch(builder, vector);
  const PairwiseFold fold(builder, vector, scratch);
  const int partner_count = fold.partner_count();
  for (int distance = 1; distance < partner_count; distance *= 2) {
    for (int partner = 0; partner < partner_count; ++partner) {
      const int peer = fold.node(partner ^ distance);
      const int here = fold.node(partner);
      const auto node = static_cast<std::size_t>(here);
      const StrandId strand = vector.strands[node];
      const BufferId current = distance == 1 ? fold.folded(partner) : vector.results[node];
      const Span mine = span_of(current, vector.chunks);
      const Span received = span_of(scratch[node], vector.chunks);
      builder.recv(strand, vector.lane, peer, received);
      builder.send(strand, vector.lane, peer, mine);
      reduce_in_node_order(builder, strand, span_of(vector.results[node], vector.chunks), here,
                           mine, peer, received);
    }
  }
  fold.unfold(builder, vector);
}

}  // namespace hycoll
