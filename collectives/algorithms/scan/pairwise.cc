// Pairwise scan: every node scans one block of the vector for all.
//
// Idea: the lane's vector has N blocks. Every node sends block k of its total to node k, which
// combines these one after the other, and sends each node what precedes it. Two messages are all
// that anybody waits for, whatever the number of nodes, and everybody combines as much as
// everybody else. Compared with the chain it sends twice as much, in two steps instead of N - 1.
//
// Source: the two halves of an all-to-all reduce-scatter and allgather, as in R. Rabenseifner,
// Optimization of Collective Reduction Operations, 2004, brought to scans by us.
// Steps: 2.
// Messages: 2 (N - 1)^2.
// Sent: 2 n (N - 1) / N elements by node 0, a block less by the others, half of it by the last.
// Memory: N - 1 blocks, besides what is received.
// Serves: any number of nodes.
// Chunks per lane: N. The totals are folded from the left.
//
// Example, nodes 0..2 with the totals a, b, c: node 1 gets block 1 of a, sends block 1 of ab to
// node 2, and gets block 0 of a from node 0 and block 2 of a from node 2.

#include <vector>

#include "collectives/algorithms/scan/exchange.h"

namespace hycoll {
namespace {

class PairwiseSteps {
 public:
  PairwiseSteps(ScheduleBuilder& builder, ScanVector& vector)
      : builder_(builder),
        vector_(vector),
        node_(vector.node),
        last_(builder.shape().node_count() - 1),
        self_(vector.self) {
    const int leader = builder.shape().leader(node_, vector.lane);
    for (int other = 0; other < last_; ++other) {
      const bool is_needed = other > 0 || node_ != 0;
      totals_.push_back(is_needed ? builder.add_scratch(leader, block(node_)) : kNoBuffer);
    }
    if (node_ > 0) {
      // Nothing is combined with what arrives unless the inclusive combination is wanted.
      received_ = self_.needs_inclusive ? place_of_received(builder, vector) : self_.exclusive;
    }
  }

  void append() {
    for (int other = 0; other < last_; ++other) {
      if (other != node_) receive(other, span_of(total(other), block(node_)));
    }
    for (int other = 0; node_ < last_ && other <= last_; ++other) {
      if (other != node_) send(other, self_.sum.at(block(other)));
    }
    scan_own_block();
    for (int other = 0; node_ > 0 && other <= last_; ++other) {
      if (other != node_) receive(other, span_of(received_, block(other)));
    }
    for (int other = 0; other <= last_; ++other) {
      if (node_ > 0 && other != node_) combine(other, span_of(received_, block(other)));
      vector_.on_prefix(block(other));
    }
  }

 private:
  ChunkRange block(int k) const { return {vector_.chunks.first + k, 1}; }
  BufferId total(int node) const { return totals_[static_cast<std::size_t>(node)]; }

  void send(int to, Span span) { builder_.send(self_.strand, vector_.lane, to, span); }
  void receive(int from, Span span) { builder_.recv(self_.strand, vector_.lane, from, span); }

  /// Combines the totals from the left, each sum in the place of its last operand, and sends each
  /// to the node that it precedes.
  void scan_own_block() {
    Span before{};
    Span own_before{};
    for (int other = 0; other <= last_; ++other) {
      if (other == node_) own_before = before;
      if (other > 0 && other != node_) send(other, before);
      if (other == last_) break;
      const Span operand =
          other == node_ ? self_.sum.at(block(node_)) : span_of(total(other), block(node_));
      if (other > 0) {
        const Span sum = span_of(total(other), block(node_));
        builder_.reduce(self_.strand, {sum}, {before, operand});
        before = sum;
      } else {
        before = operand;
      }
    }
    if (node_ > 0) combine(node_, own_before);
  }

  /// Makes results of what precedes the node in a block.
  void combine(int k, Span before) {
    if (self_.needs_inclusive) {
      builder_.reduce(self_.strand, {span_of(self_.inclusive, block(k))},
                      {before, self_.sum.at(block(k))});
    }
    if (self_.exclusive == kNoBuffer || self_.exclusive == before.buffer) return;
    builder_.copy(self_.strand, span_of(self_.exclusive, block(k)), before);
  }

  ScheduleBuilder& builder_;
  ScanVector& vector_;
  int node_;
  int last_;
  ScanNode& self_;
  std::vector<BufferId> totals_;  // by node but the last: its total in this node's block
  BufferId received_ = kNoBuffer;
};

}  // namespace

void append_pairwise_scan(ScheduleBuilder& builder, ScanVector& vector) {
  PairwiseSteps(builder, vector).append();
}

}  // namespace hycoll
