// Ring reduce-scatter.
//
// Idea: the part of node j starts at node j + 1 and travels around the ring to node j; every node
// that it passes adds its own contribution. All parts travel at once, one link apart. They are cut
// into segments: a segment is passed on as soon as it is combined, while the next is still
// arriving. Every link carries the same load all the time, whatever the network between.
//
// Source: P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of
// Workstations, 2009, section 4 (its first half).
// Steps: N - 1.
// Messages: N - 1 from every node for each segment.
// Sent: n (N - 1) / N elements for equal parts, the least possible. The operands of node j's part
// stand in the order of the ring, from node j + 1 on.
// Serves: any number of nodes.
//
// Example, 3 nodes, parts 0..2: step 0, node 1 sends its part 0 to node 2, which adds its own;
// step 1, node 2 sends the sum to node 0, which completes it.

#include "collectives/algorithms/parts/ring.h"

#include <numeric>
#include <optional>
#include <vector>

#include "collectives/algorithms/reduce_scatter/exchange.h"

namespace hycoll {
namespace {

class RingSteps {
 public:
  RingSteps(ScheduleBuilder& builder, PartedVector& vector)
      : builder_(builder), vector_(vector), node_count_(builder.shape().node_count()) {
    for (int node = 0; node < node_count_; ++node) {
      const int leader = builder.shape().leader(node, vector.lane);
      auto& buffers = travelling_.emplace_back();
      for (int step = 1; step < node_count_; ++step) {
        buffers.push_back(builder.add_scratch(leader, part(node, step)));
      }
    }
  }

  void append() {
    std::vector<int> nodes(static_cast<std::size_t>(node_count_));
    std::iota(nodes.begin(), nodes.end(), 0);
    append_ring_trip(builder_,
                     {.lane = vector_.lane,
                      .nodes = nodes,
                      .strands = vector_.strands,
                      .step_count = node_count_ - 1,
                      .segment_count = vector_.segments,
                      .receive = [this](int node, int step, int s) -> std::optional<Span> {
                        return travelling(node, step + 1, s);
                      },
                      .forward = [this](int node, int step, int s) -> std::optional<Span> {
                        return forward(node, step, s);
                      }});
  }

 private:
  /// What a node sends in a step; after the last one its own part.
  ChunkRange part(int node, int step) const {
    return vector_.parts[static_cast<std::size_t>((node + node_count_ - 1 - step) % node_count_)];
  }
  ChunkRange segment(int node, int step, int s) const {
    return segment_of(part(node, step), vector_.segments, s);
  }

  /// Where a node has what arrived for a step.
  Span travelling(int node, int step, int s) const {
    return span_of(travelling_[static_cast<std::size_t>(node)][static_cast<std::size_t>(step - 1)],
                   segment(node, step, s));
  }

  std::optional<Span> forward(int node, int step, int s) {
    const auto n = static_cast<std::size_t>(node);
    NodeSum& sum = vector_.sums[n];
    if (step == 0) return sum.at(segment(node, step, s));
    const Span arrived = travelling(node, step, s);
    if (step + 1 < node_count_) {
      builder_.reduce(vector_.strands[n], {arrived}, {arrived, sum.at(segment(node, step, s))});
      return arrived;
    }
    for (const Span& piece : clip(vector_.results[n], segment(node, step, s))) {
      const ChunkRange own{piece.first_chunk, piece.chunk_count};
      builder_.reduce(vector_.strands[n], {piece}, {span_of(arrived.buffer, own), sum.at(own)});
      vector_.on_result(node, piece);
    }
    return std::nullopt;
  }

  ScheduleBuilder& builder_;
  PartedVector& vector_;
  int node_count_;
  std::vector<std::vector<BufferId>> travelling_;  // by node and step from 1 on
};

}  // namespace

void append_ring_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector) {
  RingSteps(builder, vector).append();
}

}  // namespace hycoll
