// Ring: reduce-scatter, then allgather.
//
// Idea: the lane's vector has N blocks. In step t node i sends block i - t to node i + 1 and gets
// block i - t - 1 from node i - 1 (all modulo N). For the first N - 1 steps it reduces what it gets
// with its own contribution and passes the sum on; then block i + 1 is complete on node i, and for
// another N - 1 steps complete blocks travel on. Blocks are cut into segments: a segment is passed
// on as soon as it is reduced, while the next one is still arriving.
//
// Source: P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of
// Workstations, 2009, section 4.
// Steps: 2 (N - 1).
// Sent: 2 n (N - 1) / N elements by every node, the least possible; one block more at most where N
// does not divide n.
// Serves: any number of nodes.
// Chunks per lane: N times the segments. The order of the operands is that of the ring, starting at
// the block's own node: the same on every node, but not rank order.
//
// Example, 3 nodes, blocks 0..2: step 0, node 0 sends its block 0 to node 1, which adds its own;
// step 1, node 1 sends the sum to node 2, which completes block 0; steps 2 and 3, it travels on to
// nodes 0 and 1.

#include "collectives/algorithms/building_blocks/ring.h"

#include <optional>

#include "collectives/algorithms/allreduce/exchange.h"

namespace hycoll {

void append_ring(ScheduleBuilder& builder, const LaneVector& vector) {
  const int node_count = builder.shape().node_count();
  const int node = vector.node;
  const int segments = vector.chunks.count / node_count;
  const int reduce_steps = node_count - 1;
  const BufferId scratch = add_lane_scratch(builder, vector);
  const auto sent = [&](BufferId buffer, int step, int segment) {
    const int block = (node + 2 * node_count - step) % node_count;
    return span_of(buffer, {vector.chunks.first + block * segments + segment, 1});
  };
  append_ring_trip(
      builder, {.lane = vector.lane,
                .strand = vector.strand,
                .previous_node = (node + node_count - 1) % node_count,
                .next_node = (node + 1) % node_count,
                .step_count = 2 * reduce_steps,
                .segment_count = segments,
                .receive = [&](int step, int segment) -> std::optional<Span> {
                  return sent(step < reduce_steps ? scratch : vector.result, step + 1, segment);
                },
                .forward = [&](int step, int segment) -> std::optional<Span> {
                  const Span source = sent(vector.source, step, segment);
                  if (step == 0) return source;
                  const Span result = sent(vector.result, step, segment);
                  if (step <= reduce_steps) {
                    builder.reduce(vector.strand, {result}, {sent(scratch, step, segment), source});
                  }
                  return result;
                }});
}

}  // namespace hycoll
