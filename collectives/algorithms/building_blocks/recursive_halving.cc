// Recursive halving, the reduce-scatter half of the butterfly: what reduce and reduce_scatter
// share.
//
// Idea: partners are given numbers such that in the step of distance h = p/2, p/4, ..., 1 the
// partners whose numbers differ by h split what both work on, a range of 2 h parts: the one with
// the smaller number keeps the lower half. In the end number i holds part i. With the partners'
// own order as numbers the far ones combine first. With the bits of the numbers reversed
// neighbours combine first, which gives the canonical tree, at the price that the parts lie
// elsewhere.
//
// Source: R. Rabenseifner, Optimization of Collective Reduction Operations, 2004; R. Thakur, R.
// Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in MPICH, 2005.
// Steps: log2 p, and one more where nodes fold.
// Sent: n (p - 1) / p elements by every partner, n by every node that folds.
//
// Example, 4 partners: far first, 0 and 2 split parts 0-3, as do 1 and 3; then 0 and 1 split 0-1.
// Near first, 0 and 1 split parts 0-3, then 0 and 2 split 0-1: partner 2 ends up with part 1.

#include "collectives/algorithms/building_blocks/recursive_halving.h"

#include <bit>
#include <utility>

#include "collectives/algorithms/building_blocks/chunks.h"
#include "collectives/algorithms/building_blocks/fold.h"

namespace hycoll {

RecursiveHalving::RecursiveHalving(ScheduleBuilder& builder, HalvingOrder order,
                                   HalvedVector vector)
    : builder_(builder), order_(order), vector_(std::move(vector)) {
  if (acts()) prepare();
}

/// Adds scratch: a partner that folds receives and combines everything, others half of it.
void RecursiveHalving::prepare() {
  const bool folds = fold().partner(partner()).folding() >= 0;
  const Parts all{0, partner_count()};
  const Parts needed = folds || partner_count() == 1 ? all : halves(partner_count() / 2).kept;
  const std::vector<ChunkRange> chunks = ranges(needed.first, needed.count);
  const int leader = builder_.shape().leader(vector_.node, vector_.lane);
  received_ = add_scratch_for(builder_, leader, chunks);
  if (!vector_.accumulator.empty()) return;
  vector_.accumulator =
      vector_.sum.is_input() ? add_scratch_for(builder_, leader, chunks) : vector_.sum.places();
}

int RecursiveHalving::part_of(int partner) const {
  if (order_ == HalvingOrder::far_first) return partner;
  int reversed = 0;
  for (int bit = 1; bit < partner_count(); bit *= 2) {
    reversed = 2 * reversed + ((partner & bit) != 0 ? 1 : 0);
  }
  return reversed;
}

Span RecursiveHalving::held(ChunkRange chunks) const {
  return place_of(vector_.accumulator, chunks);
}

Span RecursiveHalving::current(ChunkRange chunks) {
  return has_combined_ ? held(chunks) : vector_.sum.at(chunks);
}

RecursiveHalving::Halves RecursiveHalving::halves(int distance) const {
  const int number = part_of(partner());
  const Parts lower{number / (2 * distance) * 2 * distance, distance};
  const Parts upper{lower.first + distance, distance};
  return (number & distance) != 0 ? Halves{.kept = upper, .given = lower}
                                  : Halves{.kept = lower, .given = upper};
}

void RecursiveHalving::append() {
  fold_pair();
  if (!acts()) return;
  for (int distance = partner_count() / 2; distance >= 1; distance /= 2) halve(distance);
}

void RecursiveHalving::fold_pair() {
  const Partner pair = fold().partner(partner());
  if (pair.folding() < 0) return;
  for (const ChunkRange& chunks : ranges(0, partner_count())) {
    if (acts()) {
      append_fold(
          builder_, {.lane = vector_.lane, .strand = vector_.strand}, pair,
          place_of(received_, chunks), [&] { return current(chunks); }, held(chunks));
    } else {
      builder_.send(vector_.strand, vector_.lane, pair.acting, vector_.sum.at(chunks));
    }
  }
  has_combined_ = acts();
}

void RecursiveHalving::halve(int distance) {
  const Halves split = halves(distance);
  const std::vector<ChunkRange> kept = ranges(split.kept.first, split.kept.count);
  const int peer = fold().acting(part_of(part_of(partner()) ^ distance));
  for (const ChunkRange& chunks : kept) {
    builder_.recv(vector_.strand, vector_.lane, peer, place_of(received_, chunks));
  }
  for (const ChunkRange& chunks : ranges(split.given.first, split.given.count)) {
    builder_.send(vector_.strand, vector_.lane, peer, current(chunks));
  }
  for (const ChunkRange& chunks : kept) {
    reduce_in_node_order(builder_, vector_.strand, held(chunks), vector_.node, current(chunks),
                         peer, place_of(received_, chunks));
  }
  has_combined_ = true;
}

}  // namespace hycoll
