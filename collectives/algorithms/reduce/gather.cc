// Reduce of long vectors: reduce-scatter between the nodes, then gather at the root's node.
//
// Idea: combining is shared by all nodes, each of which completes 1/N of the vector and hands it
// to the root, segment by segment as they are completed. The reduce-scatter is that of
// reduce_scatter/pairwise.cc (the canonical tree) or reduce_scatter/ring.cc.
//
// Source: R. Rabenseifner, Optimization of Collective Reduction Operations, 2004, for the two
// halves; R. Thakur, R. Rabenseifner, W. Gropp, 2005, for long messages.
// Messages: N - 1 from every node for each segment, then one more for each segment from all but
// the root's.
// Sent: n elements by all nodes but the root's, which receives 2 n (N - 1) / N.
// Serves: any number of nodes, any root.
// Chunks per lane: N times the segments.
//
// Example, 3 nodes, root on node 0: node j completes block j; nodes 1 and 2 send theirs to node 0.

#include <utility>
#include <vector>

#include "collectives/algorithms/reduce/exchange.h"
#include "collectives/algorithms/reduce_scatter/exchange.h"

namespace hycoll {
namespace {

/// Where the node completes its block: at the root's node in the result, elsewhere in the sum's own
/// place or, where that is an input, in scratch.
BufferId place_of_block(ScheduleBuilder& builder, const RootedVector& vector, ChunkRange block) {
  if (vector.is_at_root()) return vector.result.buffer;
  if (!vector.sum.is_input()) return vector.sum.places().front().buffer;
  return builder.add_scratch(builder.shape().leader(vector.node, vector.lane), block);
}

void append_reduce_scatter_and_gather(ScheduleBuilder& builder, const Exchange& reduce_scatter,
                                      RootedVector& vector) {
  const int node_count = builder.shape().node_count();
  const auto block_of = [&](int node) { return segment_of(vector.chunks, node_count, node); };
  const ChunkRange own = block_of(vector.node);
  const BufferId place = place_of_block(builder, vector, own);
  PartedVector parted{.lane = vector.lane,
                      .segments = vector.segments,
                      .node = vector.node,
                      .parts = {NodeParts::Lie::together, block_of},
                      .strand = vector.strand,
                      .sum = std::move(vector.sum),
                      .results = {span_of(place, own)}};
  parted.on_result = [&](Span completed) {
    if (vector.is_at_root()) return;
    builder.send(vector.strand, vector.lane, vector.root_node, completed);
  };
  reduce_scatter.reduce_scatter(builder, parted);
  if (!vector.is_at_root()) return;
  for (int s = 0; s < vector.segments; ++s) {
    for (int node = 0; node < node_count; ++node) {
      if (node == vector.root_node) continue;
      builder.recv(vector.strand, vector.lane, node,
                   span_of(vector.result.buffer, segment_of(block_of(node), vector.segments, s)));
    }
  }
}

}  // namespace

void append_ring_reduce(ScheduleBuilder& builder, RootedVector& vector) {
  append_reduce_scatter_and_gather(builder, kRingReduceScatter, vector);
}

void append_pairwise_reduce(ScheduleBuilder& builder, RootedVector& vector) {
  append_reduce_scatter_and_gather(builder, kPairwiseReduceScatter, vector);
}

}  // namespace hycoll
