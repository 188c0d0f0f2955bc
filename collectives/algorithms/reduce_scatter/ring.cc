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

#include <vector>

#include "collectives/algorithms/reduce_scatter/exchange.h"

namespace hycoll {
namespace {

class NodeSteps {
 public:
  NodeSteps(ScheduleBuilder& builder, PartedVector& vector, int node)
      : builder_(builder),
        vector_(vector),
        node_(node),
        node_count_(builder.shape().node_count()),
        strand_(vector.strands[static_cast<std::size_t>(node)]),
        sum_(vector.sums[static_cast<std::size_t>(node)]) {
    const int leader = builder.shape().leader(node, vector.lane);
    for (int step = 0; step + 1 < node_count_; ++step) {
      travelling_.push_back(builder.add_scratch(leader, received_part(step)));
    }
  }

  void append() {
    receive(0);
    for (int s = 0; s < vector_.segments; ++s) {
      send(sum_.at(segment_of(part(node_ - 1), vector_.segments, s)));
    }
    for (int step = 0; step + 1 < node_count_; ++step) {
      if (step + 2 < node_count_) receive(step + 1);
      for (int s = 0; s < vector_.segments; ++s) combine(step, s);
    }
  }

 private:
  ChunkRange part(int node) const {
    return vector_.parts[static_cast<std::size_t>((node + node_count_) % node_count_)];
  }
  ChunkRange received_part(int step) const { return part(node_ - 2 - step); }

  void receive(int step) {
    for (int s = 0; s < vector_.segments; ++s) {
      builder_.recv(strand_, vector_.lane, (node_ + node_count_ - 1) % node_count_,
                    span_of(travelling_[static_cast<std::size_t>(step)],
                            segment_of(received_part(step), vector_.segments, s)));
    }
  }

  void send(Span span) { builder_.send(strand_, vector_.lane, (node_ + 1) % node_count_, span); }

  void combine(int step, int s) {
    const BufferId travelling = travelling_[static_cast<std::size_t>(step)];
    const ChunkRange chunks = segment_of(received_part(step), vector_.segments, s);
    if (step + 2 < node_count_) {
      const Span passed_on = span_of(travelling, chunks);
      builder_.reduce(strand_, {passed_on}, {passed_on, sum_.at(chunks)});
      send(passed_on);
      return;
    }
    for (const Span& piece : clip(vector_.results[static_cast<std::size_t>(node_)], chunks)) {
      const ChunkRange own{piece.first_chunk, piece.chunk_count};
      builder_.reduce(strand_, {piece}, {span_of(travelling, own), sum_.at(own)});
      vector_.on_result(node_, piece);
    }
  }

  ScheduleBuilder& builder_;
  PartedVector& vector_;
  int node_;
  int node_count_;
  StrandId strand_;
  NodeSum& sum_;
  std::vector<BufferId> travelling_;  // by step
};

}  // namespace

void append_ring_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector) {
  for (int node = 0; node < builder.shape().node_count(); ++node) {
    NodeSteps(builder, vector, node).append();
  }
}

}  // namespace hycoll
