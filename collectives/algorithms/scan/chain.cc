// Scan along a chain.
//
// Idea: every node gets the combination of all totals before its own from the node before it,
// combines it with its own and passes that on. The vector is cut into segments, and all nodes work
// at once, each on another segment. A node computes its own totals while it waits, and what
// follows from a segment when the next one has been passed on, so that nothing holds up the chain.
//
// Source: the linear scan of the MPI libraries, pipelined like the broadcasts of P. Patarasuk, A.
// Faraj, X. Yuan, Pipelined Broadcast on Ethernet Switched Clusters, 2006.
// Steps: N - 2 + S for S segments.
// Messages: N - 1 for each segment.
// Sent: n elements by every node but the last, the least possible.
// Serves: any number of nodes.
// Chunks per lane: the segments. The totals are folded from the left.
//
// Example, nodes 0..2 with the totals a, b, c: node 0 sends a to node 1, which keeps it and sends
// ab to node 2.

#include "collectives/algorithms/scan/exchange.h"

namespace hycoll {
namespace {

class ChainSteps {
 public:
  ChainSteps(ScheduleBuilder& builder, ScanVector& vector)
      : builder_(builder),
        vector_(vector),
        node_(vector.node),
        is_last_(node_ + 1 == builder.shape().node_count()),
        self_(vector.self),
        inclusive_(self_.inclusive) {
    if (node_ == 0) return;
    // A last node that needs no sum receives where it wants the result, even if that is an output.
    received_ = needs_inclusive() ? place_of_received(builder, vector) : self_.exclusive;
    if (inclusive_ == kNoBuffer && !is_last_) {
      inclusive_ = builder.add_scratch(builder.shape().leader(node_, vector.lane), vector.chunks);
    }
  }

  void append() {
    if (node_ > 0) {
      for (int s = 0; s < vector_.segments; ++s) {
        builder_.recv(self_.strand, vector_.lane, node_ - 1, span_of(received_, chunk(s)));
      }
      if (needs_inclusive()) self_.sum.at(vector_.chunks);
    }
    for (int s = 0; s < vector_.segments; ++s) {
      pass_on(s);
      if (s > 0) vector_.on_prefix(chunk(s - 1));
    }
    vector_.on_prefix(chunk(vector_.segments - 1));
  }

 private:
  ChunkRange chunk(int segment) const { return {vector_.chunks.first + segment, 1}; }
  bool needs_inclusive() const { return self_.needs_inclusive || !is_last_; }

  void pass_on(int s) {
    Span held = span_of(inclusive_, chunk(s));
    if (node_ == 0) {
      held = self_.sum.at(chunk(s));
    } else if (needs_inclusive()) {
      builder_.reduce(self_.strand, {held}, {span_of(received_, chunk(s)), self_.sum.at(chunk(s))});
    }
    if (!is_last_) builder_.send(self_.strand, vector_.lane, node_ + 1, held);
    if (node_ == 0 || self_.exclusive == kNoBuffer || self_.exclusive == received_) return;
    builder_.copy(self_.strand, span_of(self_.exclusive, chunk(s)), span_of(received_, chunk(s)));
  }

  ScheduleBuilder& builder_;
  ScanVector& vector_;
  int node_;
  bool is_last_;
  ScanNode& self_;
  BufferId inclusive_;
  BufferId received_ = kNoBuffer;
};

}  // namespace

void append_chain_scan(ScheduleBuilder& builder, ScanVector& vector) {
  ChainSteps(builder, vector).append();
}

}  // namespace hycoll
