// Recursive halving and doubling (reduce-scatter, then allgather), the butterfly.
//
// Idea: in step k every partner exchanges with the partner whose number differs in bit k one half
// of what it still works on: it keeps one half, reduces the peer's share into it, and gives the
// other half away. After log2 p steps each owns 1/p of the result; the same steps backwards collect
// it. Distances double, so that the operands are neighbouring ranges of nodes, in order: the tree
// is that of recursive doubling.
//
// Source: R. Rabenseifner, Optimization of Collective Reduction Operations, 2004; named in DPML,
// section 4.1, and as the butterfly in the ring paper, sections 1 and 5.
// Steps: 2 log2 p, and 2 more where N is not a power of two (fold.h).
// Sent: 2 n (p - 1) / p elements by every partner, the least possible for a power of two.
// Serves: any number of nodes.
// Chunks per lane: p.
//
// Example, 4 nodes, chunks 0..3: step 1, node 0 keeps 0-1 and gives 2-3 to node 1; step 2, it keeps
// 0 and gives 1 to node 2. Now node 0 owns chunk 0, node 1 chunk 2, node 2 chunk 1, node 3 chunk 3.
// Then backwards.

#include <vector>

#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/building_blocks/allgather.h"
#include "collectives/algorithms/building_blocks/recursive_halving.h"

namespace hycoll {

void append_halving_doubling(ScheduleBuilder& builder, const LaneVector& vector) {
  const Fold fold(builder.shape().node_count());
  const auto chunks_of = [&](int first, int count) {
    return ChunkRange{vector.chunks.first + first, count};
  };
  NodeSum sum(builder, vector.whole_source());
  RecursiveHalving halving(
      builder, HalvingOrder::near_first,
      {.lane = vector.lane,
       .node = vector.node,
       .fold = fold,
       .parts = [&](int first,
                    int count) { return std::vector<ChunkRange>{chunks_of(first, count)}; },
       .strand = vector.strand,
       .sum = sum,
       .accumulator = {vector.whole_result()}});
  halving.append();
  if (halving.acts()) {
    append_doubling_allgather(
        builder,
        {.lane = vector.lane,
         .count = fold.partner_count(),
         .number = halving.part_of(halving.partner()),
         .nodes = [&](int block) { return fold.acting(halving.part_of(block)); },
         .chunks = [&](ChunkRange blocks) { return chunks_of(blocks.first, blocks.count); },
         .strand = vector.strand,
         .place = vector.result});
  }
  append_unfold(builder, {.lane = vector.lane, .strand = vector.strand},
                fold.partner(halving.partner()), vector.node, vector.whole_result());
}

}  // namespace hycoll
