// Ring: reduce-scatter, then allgather.
//
// Idea: the lane's vector has N blocks. In step t node i sends block i - t to node i + 1 and gets
// block i - t - 1 from node i - 1 (all modulo N). For the first N - 1 steps it reduces what it gets
// with its own contribution and passes the sum on; then block i + 1 is complete on node i, and for
// another N - 1 steps complete blocks travel on. Blocks are cut into segments: a segment is passed
// on as soon as it is reduced, while the next one is still arriving.
//
// Source: P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of
// Workstations, 2009, section 4. Steps:  2 (N - 1). Sent:   2 n (N - 1) / N elements by every node,
// the least possible; one block more at most where N does not divide n. Serves: any number of
// nodes. Chunks per lane: N times the segments. The order of the operands is that of the
//         ring, starting at the block's own node: the same on every node, but not rank order.
//
// Example, 3 nodes, blocks 0..2: step 0, node 0 sends its block 0 to node 1, which adds its own;
// step 1, node 1 sends the sum to node 2, which completes block 0; steps 2 and 3, it travels on to
// nodes 0 and 1.

#include <vector>

#include "collectives/algorithms/exchanges/exchange.h"
#include "collectives/algorithms/exchanges/fold.h"

namespace hycoll {
namespace {

/// The chunk of one segment of a block.
ChunkRange segment_of(const LaneVector& vector, int node_count, int block, int segment) {
  const int segments = vector.chunks.count / node_count;
  const int wrapped = ((block % node_count) + node_count) % node_count;
  return {vector.chunks.first + wrapped * segments + segment, 1};
}

void append_ring_of_node(ScheduleBuilder& builder, const LaneVector& vector, int node,
                         BufferId scratch) {
  const int node_count = builder.shape().node_count();
  const int segments = vector.chunks.count / node_count;
  const int reduce_steps = node_count - 1;
  const int step_count = 2 * reduce_steps;
  const int next = (node + 1) % node_count;
  const int previous = (node + node_count - 1) % node_count;
  const StrandId strand = vector.strands[static_cast<std::size_t>(node)];
  const BufferId source = vector.sources[static_cast<std::size_t>(node)];
  const BufferId result = vector.results[static_cast<std::size_t>(node)];

  const auto post_receives = [&](int step) {
    for (int s = 0; s < segments; ++s) {
      const ChunkRange chunk = segment_of(vector, node_count, node - step - 1, s);
      builder.recv(strand, vector.lane, previous,
                   span_of(step < reduce_steps ? scratch : result, chunk));
    }
  };

  post_receives(0);
  for (int s = 0; s < segments; ++s) {
    builder.send(strand, vector.lane, next,
                 span_of(source, segment_of(vector, node_count, node, s)));
  }
  for (int step = 0; step < step_count; ++step) {
    const bool last = step + 1 == step_count;
    if (!last) post_receives(step + 1);
    for (int s = 0; s < segments; ++s) {
      const ChunkRange chunk = segment_of(vector, node_count, node - step - 1, s);
      if (step < reduce_steps) {
        builder.reduce(strand, {span_of(result, chunk)},
                       {span_of(scratch, chunk), span_of(source, chunk)});
      }
      if (!last) builder.send(strand, vector.lane, next, span_of(result, chunk));
    }
  }
}

}  // namespace

void append_ring(ScheduleBuilder& builder, const LaneVector& vector) {
  const std::vector<BufferId> scratch = add_lane_scratch(builder, vector);
  for (int node = 0; node < builder.shape().node_count(); ++node) {
    append_ring_of_node(builder, vector, node, scratch[static_cast<std::size_t>(node)]);
  }
}

}  // namespace hycoll
