// Recursive halving and doubling (reduce-scatter, then allgather), the butterfly.
//
// Idea: in step k every partner exchanges with the partner whose number differs in bit k one half
// of what it still works on: it keeps one half, reduces the peer's share into it, and gives the
// other half away. After log2 p steps each owns 1/p of the result; the same steps backwards collect
// it. Distances double, so that the operands are neighbouring ranges of nodes, in order: the tree
// is that of recursive doubling.
//
// Source: R. Rabenseifner, Optimization of Collective Reduction Operations, 2004; named in DPML,
//         section 4.1, and as the butterfly in the ring paper, sections 1 and 5.
// Steps:  2 log2 p, and 2 more where N is not a power of two (fold.h).
// Sent:   2 n (p - 1) / p elements by every partner, the least possible for a power of two.
// Serves: any number of nodes. Chunks per lane: p.
//
// Example, 4 nodes, chunks 0..3: step 1, node 0 keeps 0-1 and gives 2-3 to node 1; step 2, it keeps
// 0 and gives 1 to node 2. Now node 0 owns chunk 0, node 1 chunk 2, node 2 chunk 1, node 3 chunk 3.
// Then backwards.

#include <utility>
#include <vector>

#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/parts/allgather.h"
#include "collectives/algorithms/parts/recursive_halving.h"

namespace hycoll {

void append_halving_doubling(ScheduleBuilder& builder, const LaneVector& vector) {
  const int node_count = builder.shape().node_count();
  std::vector<NodeSum> sums;
  std::vector<std::vector<Span>> results;
  for (std::size_t node = 0; node < vector.strands.size(); ++node) {
    sums.emplace_back(builder, span_of(vector.sources[node], vector.chunks));
    results.push_back({span_of(vector.results[node], vector.chunks)});
  }
  std::vector<ChunkRange> blocks;
  std::vector<std::vector<ChunkRange>> parts;
  for (int chunk = 0; chunk < vector.chunks.count; ++chunk) {
    blocks.push_back({vector.chunks.first + chunk, 1});
    parts.push_back({blocks.back()});
  }
  RecursiveHalving halving(builder, HalvingOrder::near_first, vector.lane,
                           fold_partners(node_count), std::move(parts), vector.strands, sums,
                           std::move(results));
  halving.append();
  std::vector<int> holders;  // by block
  for (int block = 0; block < halving.partner_count(); ++block) {
    const auto partner = static_cast<std::size_t>(halving.part_of(block));
    holders.push_back(halving.partners()[partner].acting);
  }
  append_doubling_allgather(builder, {.lane = vector.lane,
                                      .nodes = std::move(holders),
                                      .blocks = std::move(blocks),
                                      .strands = vector.strands,
                                      .places = vector.results});
  append_unfold_all(builder, halving.partners(), vector);
}

}  // namespace hycoll
