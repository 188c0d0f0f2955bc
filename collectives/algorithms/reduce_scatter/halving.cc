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

#include "collectives/algorithms/building_blocks/recursive_halving.h"
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

/// The node's combined part comes from the partner that ended up with it into the node's result.
void append_arrival(ScheduleBuilder& builder, PartedVector& vector, int from) {
  if (vector.results.size() == 1) {
    builder.recv(vector.strand, vector.lane, from, vector.results.front());
    return;
  }
  // Several members, so the sum is scratch; it is used up.
  const Span received = place_of(vector.sum.places(), vector.parts(vector.node));
  builder.recv(vector.strand, vector.lane, from, received);
  copy_pieces(builder, vector.strand, vector.results, received.buffer);
}

/// A node that acts sends what it ended up with to those whose parts these are.
void append_delivery(ScheduleBuilder& builder, PartedVector& vector,
                     const RecursiveHalving& halving) {
  const Partner owner = halving.fold().partner(halving.part_of(halving.partner()));
  for (int to = owner.first_node; to < owner.first_node + owner.node_count; ++to) {
    const Span held = halving.held(vector.parts(to));
    if (to == vector.node) {
      copy_pieces(builder, vector.strand, vector.results, held.buffer);
    } else {
      builder.send(vector.strand, vector.lane, to, held);
    }
  }
}

void append_in_order(ScheduleBuilder& builder, HalvingOrder order, PartedVector& vector) {
  const Fold fold(builder.shape().node_count());
  const auto parts = [&](int first, int count) {
    const Partner last = fold.partner(first + count - 1);
    const int first_node = fold.partner(first).first_node;
    return vector.parts.ranges(first_node, last.first_node + last.node_count - first_node);
  };
  RecursiveHalving halving(builder, order,
                           {.lane = vector.lane,
                            .node = vector.node,
                            .fold = fold,
                            .parts = parts,
                            .strand = vector.strand,
                            .sum = vector.sum});
  halving.append();
  const int from = fold.acting(halving.part_of(fold.partner_of(vector.node)));
  if (from < vector.node) append_arrival(builder, vector, from);
  if (halving.acts()) append_delivery(builder, vector, halving);
  if (from > vector.node) append_arrival(builder, vector, from);
}

}  // namespace

void append_halving_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector) {
  append_in_order(builder, HalvingOrder::far_first, vector);
}

void append_butterfly_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector) {
  append_in_order(builder, HalvingOrder::near_first, vector);
}

}  // namespace hycoll
