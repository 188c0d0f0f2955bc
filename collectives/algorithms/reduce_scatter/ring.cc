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

#include "collectives/algorithms/building_blocks/ring.h"

#include <optional>
#include <vector>

#include "collectives/algorithms/reduce_scatter/exchange.h"

namespace hycoll {
namespace {

class RingSteps {
 public:
  RingSteps(ScheduleBuilder& builder, PartedVector& vector)
      : builder_(builder),
        vector_(vector),
        node_(vector.node),
        node_count_(builder.shape().node_count()),
        strand_(vector.strand) {
    const int leader = builder.shape().leader(node_, vector.lane);
    for (int step = 1; step < node_count_; ++step) {
      travelling_.push_back(builder.add_scratch(leader, part(step)));
    }
  }

  void append() {
    append_ring_trip(builder_, {.lane = vector_.lane,
                                .strand = strand_,
                                .previous_node = (node_ + node_count_ - 1) % node_count_,
                                .next_node = (node_ + 1) % node_count_,
                                .step_count = node_count_ - 1,
                                .segment_count = vector_.segments,
                                .receive = [this](int step, int s) -> std::optional<Span> {
                                  return travelling(step + 1, s);
                                },
                                .forward = [this](int step, int s) -> std::optional<Span> {
                                  return forward(step, s);
                                }});
  }

 private:
  /// What a node sends in a step; after the last one its own part.
  ChunkRange part(int step) const {
    return vector_.parts((node_ + node_count_ - 1 - step) % node_count_);
  }
  ChunkRange segment(int step, int s) const { return segment_of(part(step), vector_.segments, s); }

  /// Where a node has what arrived for a step.
  Span travelling(int step, int s) const {
    return span_of(travelling_[static_cast<std::size_t>(step - 1)], segment(step, s));
  }

  std::optional<Span> forward(int step, int s) {
    NodeSum& sum = vector_.sum;
    if (step == 0) return sum.at(segment(step, s));
    const Span arrived = travelling(step, s);
    if (step + 1 < node_count_) {
      builder_.reduce(strand_, {arrived}, {arrived, sum.at(segment(step, s))});
      return arrived;
    }
    for (const Span& piece : clip(vector_.results, segment(step, s))) {
      const ChunkRange own{piece.first_chunk, piece.chunk_count};
      builder_.reduce(strand_, {piece}, {span_of(arrived.buffer, own), sum.at(own)});
      vector_.on_result(piece);
    }
    return std::nullopt;
  }

  ScheduleBuilder& builder_;
  PartedVector& vector_;
  int node_;
  int node_count_;
  StrandId strand_;
  std::vector<BufferId> travelling_;  // by step from 1 on
};

}  // namespace

void append_ring_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector) {
  RingSteps(builder, vector).append();
}

}  // namespace hycoll
