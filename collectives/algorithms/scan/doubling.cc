// Scan by recursive doubling.
//
// Idea: in the step of distance d = 1, 2, 4, ... every node sends what it has combined so far, the
// totals of up to d nodes that end with its own, to the node d further on; this combines it with
// what it has, on the left. After k steps 2^k totals are combined everywhere. Besides, every node
// combines what it receives to what precedes it. A segment goes into the next step as soon as it
// is combined.
//
// Source: W. D. Hillis, G. L. Steele, Data Parallel Algorithms, CACM 1986.
// Steps: ceil(log2 N), of which floor(log2 N) wait for one another.
// Messages: one for each segment from all nodes but the last d, in each step.
// Sent: n elements in each step.
// Serves: any number of nodes, not only powers of two. The operands stand in rank order, but in a
// tree of its own. Best for short vectors.
//
// Example, nodes 0..3 with the totals a, b, c, d: distance 1, node 1 holds ab, node 2 bc, node 3
// cd; distance 2, node 2 gets a and holds a bc, node 3 gets ab and holds ab cd. What node 3
// received combines to ab c.

#include <utility>
#include <vector>

#include "collectives/algorithms/scan/exchange.h"

namespace hycoll {
namespace {

class DoublingSteps {
 public:
  DoublingSteps(ScheduleBuilder& builder, ScanVector& vector)
      : builder_(builder),
        vector_(vector),
        node_(vector.node),
        node_count_(builder.shape().node_count()),
        self_(vector.self),
        inclusive_(self_.inclusive) {
    if (node_ == 0) return;
    first_received_ = place_of_received(builder, vector);
    const int leader = builder.shape().leader(node_, vector.lane);
    const bool receives_more = node_ >= 2;
    received_ = receives_more && first_received_ == self_.exclusive
                    ? builder.add_scratch(leader, vector.chunks)
                    : first_received_;
    if (inclusive_ == kNoBuffer && needs_inclusive_after(1)) {
      inclusive_ = builder.add_scratch(leader, vector.chunks);
    }
  }

  void append() {
    for (int s = 0; s < vector_.segments; ++s) {
      receive(1, s);
      send(1, s);
    }
    for (int distance = 1; distance < node_count_; distance *= 2) {
      for (int s = 0; s < vector_.segments; ++s) combine(distance, s);
    }
    for (int s = 0; s < vector_.segments; ++s) vector_.on_prefix(chunk(s));
  }

 private:
  ChunkRange chunk(int segment) const { return {vector_.chunks.first + segment, 1}; }

  /// Whether what is combined in a step is of use later.
  bool needs_inclusive_after(int distance) const {
    return self_.needs_inclusive || node_ + 2 * distance < node_count_;
  }

  /// What the node has combined before a step. (The first node never combines anything.)
  Span held(int distance, int s) {
    const bool has_combined = node_ > 0 && distance > 1;
    return has_combined ? span_of(inclusive_, chunk(s)) : self_.sum.at(chunk(s));
  }

  Span received(int distance, int s) const {
    return span_of(distance == 1 ? first_received_ : received_, chunk(s));
  }

  void send(int distance, int s) {
    if (node_ + distance >= node_count_) return;
    builder_.send(self_.strand, vector_.lane, node_ + distance, held(distance, s));
  }

  void receive(int distance, int s) {
    if (distance >= node_count_ || node_ < distance) return;
    builder_.recv(self_.strand, vector_.lane, node_ - distance, received(distance, s));
  }

  void combine(int distance, int s) {
    const bool receives = node_ >= distance;
    if (receives && needs_inclusive_after(distance)) {
      const Span before = held(distance, s);
      builder_.reduce(self_.strand, {span_of(inclusive_, chunk(s))},
                      {received(distance, s), before});
    }
    if (2 * distance < node_count_) send(2 * distance, s);
    if (receives) combine_exclusive(distance, s);
    receive(2 * distance, s);
  }

  void combine_exclusive(int distance, int s) {
    const Span operand = received(distance, s);
    if (self_.exclusive == kNoBuffer || operand.buffer == self_.exclusive) return;
    const Span exclusive = span_of(self_.exclusive, chunk(s));
    if (distance == 1) {
      builder_.copy(self_.strand, exclusive, operand);
    } else {
      builder_.reduce(self_.strand, {exclusive}, {operand, exclusive});
    }
  }

  ScheduleBuilder& builder_;
  ScanVector& vector_;
  int node_;
  int node_count_;
  ScanNode& self_;
  BufferId inclusive_;
  BufferId first_received_ = kNoBuffer;
  BufferId received_ = kNoBuffer;
};

}  // namespace

void append_doubling_scan(ScheduleBuilder& builder, ScanVector& vector) {
  DoublingSteps(builder, vector).append();
}

}  // namespace hycoll
