// Reduce by recursive halving, then a binomial gather (Rabenseifner's algorithm).
//
// Idea: recursive halving (parts/recursive_halving.cc), near partners first, leaves every partner
// with one combined part; the gather goes the same way back, but only towards the root: in the
// step of distance h those partners hand over what they hold whose number differs from the root's
// in that bit. What is handed over always follows, or precedes, what the receiver holds.
//
// Source: R. Rabenseifner, Optimization of Collective Reduction Operations, 2004.
// Steps: 2 log2 p, and one more where N is not a power of two.
// Messages: p log2 p + p - 1 + N - p.
// Sent: at most n (p - 1) / p + n / 2 elements by every partner but the root, n by nodes that
// fold.
// Serves: any number of nodes, any root.
// Chunks per lane: p. The tree is the canonical one.
//
// Example, 4 nodes, root on node 0: after halving node 0 holds part 0, node 1 part 2, node 2 part
// 1 and node 3 part 3. Distance 1: node 2 hands part 1 to node 0, node 3 part 3 to node 1;
// distance 2: node 1 hands parts 2 and 3 to node 0.

#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/recursive_halving.h"
#include "collectives/algorithms/building_blocks/trees.h"
#include "collectives/algorithms/reduce/exchange.h"

namespace hycoll {
namespace {

/// The binomial tree over the parts, whose numbers are the root's part with the number's bits
/// inverted: what lies below a number is a range of parts, whatever the root's is.
void append_gather(ScheduleBuilder& builder, const RootedVector& vector,
                   const RecursiveHalving& halving) {
  const int count = halving.partner_count();
  const int root = halving.part_of(halving.fold().partner_of(vector.root_node));
  const auto node_at = [&](int number) {
    return halving.fold().acting(halving.part_of(number ^ root));
  };
  const int number = halving.part_of(halving.partner()) ^ root;
  // What a number has gathered.
  const auto held_below = [&](int below) {
    const int size = binomial_subtree_size(below, count);
    return halving.held(halving.ranges((below ^ root) / size * size, size).front());
  };
  const auto [parent, children] = place_in_binomial_tree(number, count);
  for (auto child = children.rbegin(); child != children.rend(); ++child) {
    builder.recv(vector.strand, vector.lane, node_at(*child), held_below(*child));
  }
  if (parent >= 0) builder.send(vector.strand, vector.lane, node_at(parent), held_below(number));
}

}  // namespace

void append_halving_reduce(ScheduleBuilder& builder, RootedVector& vector) {
  const Fold fold(builder.shape().node_count(), vector.root_node);
  const int part_size = segment_of(vector.chunks, fold.partner_count(), 0).count;
  const auto parts = [&](int first, int count) {
    return std::vector<ChunkRange>{{vector.chunks.first + first * part_size, count * part_size}};
  };
  HalvedVector halved{.lane = vector.lane,
                      .node = vector.node,
                      .fold = fold,
                      .parts = parts,
                      .strand = vector.strand,
                      .sum = vector.sum};
  if (vector.is_at_root()) halved.accumulator = {vector.result};
  RecursiveHalving halving(builder, HalvingOrder::near_first, std::move(halved));
  halving.append();
  if (halving.acts()) append_gather(builder, vector, halving);
}

}  // namespace hycoll
