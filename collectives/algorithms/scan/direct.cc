// Direct scan: every node sends its total to all nodes that follow.
//
// Idea: nobody waits for more than one message after another, and one step combines all that has
// arrived. For short vectors and not too many nodes that is what takes least time.
//
// Source: this project.
// Steps: 1.
// Messages: N (N - 1) / 2.
// Sent: n (N - 1) elements by node 0.
// Memory: n elements for each node before.
// Serves: any number of nodes. The totals are folded from the left.
//
// Example, nodes 0..2 with the totals a, b, c: node 0 sends a to nodes 1 and 2, node 1 sends b to
// node 2, which combines a b.

#include <vector>

#include "collectives/algorithms/scan/exchange.h"

namespace hycoll {

void append_direct_scan(ScheduleBuilder& builder, ScanVector& vector) {
  const int node = vector.node;
  ScanNode& self = vector.self;
  const int leader = builder.shape().leader(node, vector.lane);
  std::vector<Span> totals;
  for (int before = 0; before < node; ++before) {
    totals.push_back(span_of(builder.add_scratch(leader, vector.chunks), vector.chunks));
    builder.recv(self.strand, vector.lane, before, totals.back());
  }
  for (int after = node + 1; after < builder.shape().node_count(); ++after) {
    builder.send(self.strand, vector.lane, after, self.sum.at(vector.chunks));
  }
  if (node > 0 && self.needs_inclusive) {
    const Span inclusive = span_of(self.inclusive, vector.chunks);
    std::vector<Span> operands = totals;
    operands.push_back(self.sum.at(vector.chunks));
    builder.reduce(self.strand, std::span(&inclusive, 1), operands);
  }
  if (self.exclusive != kNoBuffer) {
    const Span exclusive = span_of(self.exclusive, vector.chunks);
    builder.reduce(self.strand, std::span(&exclusive, 1), totals);
  }
  vector.on_prefix(vector.chunks);
}

}  // namespace hycoll
