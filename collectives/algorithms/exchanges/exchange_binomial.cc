// Binomial trees: reduce to node 0, then broadcast from it.
//
// Idea: in the step of distance d = 1, 2, 4, ... the nodes whose number is an odd multiple of d
// give what they have gathered to the node d below, which reduces it behind its own. What a node
// has gathered is always a range of nodes that begins with itself, so operands stand in node order.
// Then the result takes the same ways back, the longest first.
//
// Source: P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of
// Workstations, 2009, section 5: phases 2 and 3 of SMP-binomial.
// Steps: 2 ceil(log2 N). Sent: (N - 1) n elements up and as many down by all nodes together; node 0
// alone sends and receives n ceil(log2 N), which is what the ring avoids. Scratch: n.
// Serves: any number of nodes.
//
// Example, 3 nodes with the values a, b, c: node 1 sends b to node 0, which holds ab; node 2 sends
// c to node 0, which holds abc; node 0 sends abc to node 2, then to node 1.

#include "collectives/algorithms/exchanges/exchange.h"
#include "collectives/algorithms/exchanges/fold.h"

namespace hycoll {
namespace {

/// Whether a node gives what it has to the one `distance` below, in the step of that distance.
bool gives(int node, int distance) { return node % (2 * distance) == distance; }

/// Whether a node gets something from the one `distance` above.
bool gets(int node, int distance, int node_count) {
  return node % (2 * distance) == 0 && node + distance < node_count;
}

}  // namespace

void append_binomial(ScheduleBuilder& builder, const LaneVector& vector) {
  const int node_count = builder.shape().node_count();
  const std::vector<BufferId> scratch = add_lane_scratch(builder, vector);
  std::vector<BufferId> gathered = vector.sources;
  const auto on = [&](BufferId buffer) { return span_of(buffer, vector.chunks); };
  int distance = 1;
  for (; distance < node_count; distance *= 2) {
    for (int n = 0; n < node_count; ++n) {
      const auto node = static_cast<std::size_t>(n);
      const StrandId strand = vector.strands[node];
      if (gives(n, distance)) builder.send(strand, vector.lane, n - distance, on(gathered[node]));
      if (!gets(n, distance, node_count)) continue;
      builder.recv(strand, vector.lane, n + distance, on(scratch[node]));
      builder.reduce(strand, {on(vector.results[node])}, {on(gathered[node]), on(scratch[node])});
      gathered[node] = vector.results[node];
    }
  }
  for (distance /= 2; distance >= 1; distance /= 2) {
    for (int n = 0; n < node_count; ++n) {
      const auto node = static_cast<std::size_t>(n);
      const StrandId strand = vector.strands[node];
      const Span result = on(vector.results[node]);
      if (gets(n, distance, node_count)) builder.send(strand, vector.lane, n + distance, result);
      if (gives(n, distance)) builder.recv(strand, vector.lane, n - distance, result);
    }
  }
}

}  // namespace hycoll
