// Circulant graph: reduce-scatter, then allgather over the same graph backwards.
//
// Idea: as halving and doubling, but for every number of nodes alike: in each round of the
// reduce-scatter (parts/circulant.cc) a node gives away the upper half of the blocks that it works
// on, rounded down, and in each of the allgather (parts/allgather.cc) it gets as many complete ones
// back. Nobody folds, which costs halving and doubling two steps and a whole vector where N is no
// power of two.
//
// Source: J. L. Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024.
// Steps: 2 ceil(log2 N).
// Messages: 2 ceil(log2 N) from every node, and few more: see the two halves.
// Sent: 2 n (N - 1) / N elements by every node, the least possible; one block more at most where N
// does not divide n.
// Scratch: half of the blocks.
// Serves: any number of nodes.
// Chunks per lane: N. The operands of a block stand in an order of its own: the same on every node,
// but not rank order, so operators have to commute.
//
// Example, 3 nodes, skips 3, 2, 1, blocks 0..2: node 0 sends block 2 to node 2 and adds node 1's
// block 0 to its own; it sends block 1 to node 1, and completes block 0 with node 2's. Then it
// sends block 0 to node 2, gets 1, sends 0 to node 1, and gets 2.

#include "collectives/algorithms/building_blocks/circulant.h"

#include <vector>

#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/building_blocks/allgather.h"

namespace hycoll {

void append_circulant(ScheduleBuilder& builder, const LaneVector& vector) {
  const auto chunks_of = [&](int first, int count) {
    return ChunkRange{vector.chunks.first + first, count};
  };
  NodeSum sum(builder, vector.whole_source());
  const std::vector<Span> completed{span_of(vector.result, chunks_of(vector.node, 1))};
  append_circulant_reduce_scatter(
      builder,
      {.lane = vector.lane,
       .node = vector.node,
       .parts = [&](int first,
                    int count) { return std::vector<ChunkRange>{chunks_of(first, count)}; },
       .strand = vector.strand,
       .sum = sum,
       .results = completed,
       .accumulator = {vector.whole_result()}});
  append_circulant_allgather(
      builder, {.lane = vector.lane,
                .count = builder.shape().node_count(),
                .number = vector.node,
                .nodes = [](int number) { return number; },
                .chunks = [&](ChunkRange blocks) { return chunks_of(blocks.first, blocks.count); },
                .strand = vector.strand,
                .place = vector.result});
}

}  // namespace hycoll
