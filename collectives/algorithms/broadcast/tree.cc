// Trees: binomial, k-nomial and the chain.
//
// Idea: every node receives the vector from its parent and passes it on to its children, the one
// with the most nodes below it first. Vectors are cut into segments: a segment goes on as soon as
// it is there, so that a long vector passes through the tree in little more than the time of its
// slowest node, which sends it once for each child: the chain, where that is once, is the fastest
// for long vectors, the others for short ones. A node has few receives posted at a time.
//
// Source: binomial and k-nomial trees as in R. Thakur, R. Rabenseifner, W. Gropp, Optimization of
// Collective Communication Operations in MPICH, 2005; named in the slides on the bandwidth-saving
// broadcast and by Blue Gene/P's.
// Steps: ceil(log2 N) for the binomial tree, at most (k - 1) ceil(log_k N) for a k-nomial one,
// whose depth is ceil(log_k N), N - 1 for the chain; s - 1 more with s segments in the chain.
// Messages: N - 1 for each segment.
// Serves: any number of nodes, any root.
// Chunks per lane: the segments.
//
// Example, 6 nodes, root 0, binomial: 0 sends to 4, 2 and 1; 4 to 5, 2 to 3. With k = 4: 0 sends to
// 4, 3, 2 and 1; 4 to 5. As a chain: 0 to 1 to 2 to 3 to 4 to 5.

#include "collectives/algorithms/broadcast/exchange.h"

namespace hycoll {
namespace {

constexpr int kRadix = 4;
/// The receives that a node has posted beyond the segment that it passes on. With all of them
/// posted, a library that shakes hands for long messages sends all segments at the same time, a
/// little of each in turn: they arrive together, at the end, and nothing is pipelined.
constexpr int kReceivesAhead = 4;

template <class PlaceOf>
void append_tree(ScheduleBuilder& builder, const PlaceOf& place_of, const BroadcastVector& vector) {
  const NodesFromRoot nodes{.root_node = vector.root_node, .count = builder.shape().node_count()};
  const TreePlace place = place_of(nodes.number_of(vector.node), nodes.count);
  append_broadcast_place(builder, renamed(place, [&](int number) { return nodes.node_of(number); }),
                         vector);
}

}  // namespace

void append_binomial_broadcast(ScheduleBuilder& builder, const BroadcastVector& vector) {
  append_tree(builder, place_in_binomial_tree, vector);
}

void append_knomial_broadcast(ScheduleBuilder& builder, const BroadcastVector& vector) {
  append_tree(
      builder, [](int number, int count) { return place_in_knomial_tree(number, count, kRadix); },
      vector);
}

void append_chain_broadcast(ScheduleBuilder& builder, const BroadcastVector& vector) {
  append_tree(builder, place_in_chain, vector);
}

void append_broadcast_place(ScheduleBuilder& builder, const TreePlace& place,
                            const BroadcastVector& vector) {
  const auto& [parent, children] = place;
  const auto chunk = [&](int s) { return ChunkRange{vector.chunks.first + s, 1}; };
  const auto arrive = [&](int s, OnArrival when) {
    if (parent >= 0 && when == vector.when) vector.on_arrival(chunk(s));
  };
  const auto receive = [&](int s) {
    if (parent < 0 || s >= vector.segments) return;
    builder.recv(vector.strand, vector.lane, parent, span_of(vector.place, chunk(s)));
  };
  for (int s = 0; s < kReceivesAhead; ++s) receive(s);
  for (int s = 0; s < vector.segments; ++s) {
    arrive(s, OnArrival::before_passing_on);
    if (!children.empty() && vector.before_sending) vector.before_sending(chunk(s));
    for (const int child : children) {
      builder.send(vector.strand, vector.lane, child, span_of(vector.place, chunk(s)));
    }
    arrive(s, OnArrival::after_passing_on);
    receive(s + kReceivesAhead);
  }
}

}  // namespace hycoll
