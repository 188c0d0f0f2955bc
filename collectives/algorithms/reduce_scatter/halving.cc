// Reduce-scatter by recursive halving, in two orders.
//
// Idea: recursive halving (parts/recursive_halving.cc) on the parts of the partners, a part being
// what belongs to the nodes of the partner. Far partners first, every partner ends up with its own
// part, and hands on only what belongs to the node that folded into it. Near partners first (the
// butterfly) the operands form the canonical tree, and every partner sends the part that it ends
// up with to those whom it belongs to.
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication
// Operations in MPICH, 2005 (recursive halving); the butterfly with its last step is MPICH's for
// operators that do not commute.
// Steps: log2 p, one more for the butterfly, two more where N is not a power of two.
// Sent: n (p - 1) / p elements by every partner for equal parts, and n / p more by the butterfly;
// n by every node that folds. With several lanes the chunks of a lane lie apart, and messages
// carry one part each: their number is that of pairwise then.
// Serves: any number of nodes.
//
// Example, 4 nodes, butterfly: node 1 ends up with the part of node 2 and sends it there, and the
// other way round; nodes 0 and 3 end up with their own.

#include <utility>
#include <vector>

#include "collectives/algorithms/parts/recursive_halving.h"
#include "collectives/algorithms/reduce_scatter/exchange.h"

namespace hycoll {
namespace {

void copy_pieces(ScheduleBuilder& builder, StrandId strand, const std::vector<Span>& results,
                 BufferId held) {
  for (const Span& piece : results) {
    if (piece.buffer == held) continue;
    builder.copy(strand, piece, {held, piece.first_chunk, piece.chunk_count});
  }
}

/// Brings a node's combined part from the partner that ended up with it into the node's result.
void append_delivery(ScheduleBuilder& builder, PartedVector& vector,
                     const RecursiveHalving& halving, int node) {
  const auto n = static_cast<std::size_t>(node);
  const int holder = halving.part_of(partner_of(halving.partners(), node));
  const int from = halving.partners()[static_cast<std::size_t>(holder)].acting;
  const Span held = halving.held(holder, vector.parts[n]);
  const std::vector<Span>& results = vector.results[n];
  if (from == node) return copy_pieces(builder, vector.strands[n], results, held.buffer);

  builder.send(vector.strands[static_cast<std::size_t>(from)], vector.lane, node, held);
  if (results.size() == 1) {
    builder.recv(vector.strands[n], vector.lane, from, results.front());
    return;
  }
  // Several members, so the sum is scratch; it is used up.
  const Span received = place_of(vector.sums[n].places(), vector.parts[n]);
  builder.recv(vector.strands[n], vector.lane, from, received);
  copy_pieces(builder, vector.strands[n], results, received.buffer);
}

void append_in_order(ScheduleBuilder& builder, HalvingOrder order, PartedVector& vector) {
  const int node_count = builder.shape().node_count();
  std::vector<Partner> partners = fold_partners(node_count);
  std::vector<std::vector<ChunkRange>> parts;
  for (const Partner& partner : partners) {
    parts.push_back(ranges_of_parts(vector.parts, partner.first_node, partner.node_count));
  }
  RecursiveHalving halving(builder, order, vector.lane, std::move(partners), std::move(parts),
                           vector.strands, vector.sums,
                           std::vector<std::vector<Span>>(static_cast<std::size_t>(node_count)));
  halving.append();
  for (int node = 0; node < node_count; ++node) append_delivery(builder, vector, halving, node);
}

}  // namespace

void append_halving_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector) {
  append_in_order(builder, HalvingOrder::far_first, vector);
}

void append_butterfly_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector) {
  append_in_order(builder, HalvingOrder::near_first, vector);
}

}  // namespace hycoll
