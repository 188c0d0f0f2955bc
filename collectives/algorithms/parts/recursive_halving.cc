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

#include "collectives/algorithms/parts/recursive_halving.h"

#include <bit>
#include <utility>

#include "collectives/algorithms/parts/chunks.h"
#include "collectives/algorithms/parts/fold.h"

namespace hycoll {

RecursiveHalving::RecursiveHalving(ScheduleBuilder& builder, HalvingOrder order, int lane,
                                   std::vector<Partner> partners,
                                   std::vector<std::vector<ChunkRange>> parts,
                                   const std::vector<StrandId>& strands, std::vector<NodeSum>& sums,
                                   std::vector<std::vector<Span>> accumulators)
    : builder_(builder),
      order_(order),
      lane_(lane),
      partners_(std::move(partners)),
      parts_(std::move(parts)),
      strands_(strands),
      sums_(sums),
      accumulators_(std::move(accumulators)),
      received_(partners_.size()),
      has_combined_(partners_.size(), false) {
  for (int partner = 0; partner < partner_count(); ++partner) prepare(partner);
}

/// Adds scratch: a partner that folds receives and combines everything, others half of it.
void RecursiveHalving::prepare(int partner) {
  const int node = acting(partner);
  const bool folds = partners_[static_cast<std::size_t>(partner)].folding() >= 0;
  const Parts all{0, partner_count()};
  const Parts needed =
      folds || partner_count() == 1 ? all : halves(partner, partner_count() / 2).kept;
  const std::vector<ChunkRange> chunks = ranges(needed.first, needed.count);
  const int leader = builder_.shape().leader(node, lane_);
  received_[static_cast<std::size_t>(partner)] = add_scratch_for(builder_, leader, chunks);
  std::vector<Span>& accumulator = accumulators_[static_cast<std::size_t>(node)];
  if (!accumulator.empty()) return;
  accumulator =
      sum(partner).is_input() ? add_scratch_for(builder_, leader, chunks) : sum(partner).places();
}

int RecursiveHalving::part_of(int partner) const {
  if (order_ == HalvingOrder::far_first) return partner;
  int reversed = 0;
  for (int bit = 1; bit < partner_count(); bit *= 2) {
    reversed = 2 * reversed + ((partner & bit) != 0 ? 1 : 0);
  }
  return reversed;
}

std::vector<ChunkRange> RecursiveHalving::ranges(int first, int count) const {
  std::vector<ChunkRange> flat;
  for (int part = first; part < first + count; ++part) {
    const auto& chunks = parts_[static_cast<std::size_t>(part)];
    flat.insert(flat.end(), chunks.begin(), chunks.end());
  }
  return ranges_of_parts(flat, 0, static_cast<int>(flat.size()));
}

Span RecursiveHalving::held(int partner, ChunkRange chunks) const {
  return place_of(accumulators_[static_cast<std::size_t>(acting(partner))], chunks);
}

Span RecursiveHalving::current(int partner, ChunkRange chunks) {
  return has_combined_[static_cast<std::size_t>(partner)] ? held(partner, chunks)
                                                          : sum(partner).at(chunks);
}

RecursiveHalving::Halves RecursiveHalving::halves(int partner, int distance) const {
  const int number = part_of(partner);
  const Parts lower{number / (2 * distance) * 2 * distance, distance};
  const Parts upper{lower.first + distance, distance};
  return (number & distance) != 0 ? Halves{.kept = upper, .given = lower}
                                  : Halves{.kept = lower, .given = upper};
}

void RecursiveHalving::append() {
  for (int partner = 0; partner < partner_count(); ++partner) fold(partner);
  for (int distance = partner_count() / 2; distance >= 1; distance /= 2) {
    for (int partner = 0; partner < partner_count(); ++partner) halve(partner, distance);
  }
}

void RecursiveHalving::fold(int partner) {
  const int from = partners_[static_cast<std::size_t>(partner)].folding();
  if (from < 0) return;
  for (const ChunkRange& chunks : ranges(0, partner_count())) {
    append_fold(
        builder_, {.lane = lane_, .strands = strands_},
        partners_[static_cast<std::size_t>(partner)],
        sums_[static_cast<std::size_t>(from)].at(chunks),
        place_of(received_[static_cast<std::size_t>(partner)], chunks),
        [&] { return current(partner, chunks); }, held(partner, chunks));
  }
  has_combined_[static_cast<std::size_t>(partner)] = true;
}

void RecursiveHalving::halve(int partner, int distance) {
  const Halves split = halves(partner, distance);
  const std::vector<ChunkRange> kept = ranges(split.kept.first, split.kept.count);
  const int peer = acting(part_of(part_of(partner) ^ distance));
  const auto& received = received_[static_cast<std::size_t>(partner)];
  for (const ChunkRange& chunks : kept) {
    builder_.recv(strand(partner), lane_, peer, place_of(received, chunks));
  }
  for (const ChunkRange& chunks : ranges(split.given.first, split.given.count)) {
    builder_.send(strand(partner), lane_, peer, current(partner, chunks));
  }
  for (const ChunkRange& chunks : kept) {
    reduce_in_node_order(builder_, strand(partner), held(partner, chunks), acting(partner),
                         current(partner, chunks), peer, place_of(received, chunks));
  }
  has_combined_[static_cast<std::size_t>(partner)] = true;
}

}  // namespace hycoll
