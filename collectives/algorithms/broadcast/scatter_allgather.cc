// Scatter, then allgather: over a ring, over the ring that saves bandwidth, or by doubling.
//
// Idea: the vector is cut into one chunk per node. A binomial tree scatters it: whoever receives
// gets the chunks of all nodes below it, and passes on those of its children, so that at the end
// node r owns chunk r, and the inner nodes own those of their subtrees. The allgather completes
// what is missing: over the ring every node sends on to its right neighbour, in each of N - 1
// steps, the chunk that it got in the step before, starting with its own; by doubling, nodes
// exchange everything that their groups of 1, 2, 4, ... nodes have.
// The enclosed ring (scatter_ring) also sends what the neighbour owns since the scatter, to the
// root everything; that is received and dropped. The other one (scatter_ring_opt) sends only what
// the neighbour lacks: a node whose subtree has c chunks receives c - 1 messages less.
//
// Source: H. Zhou et al., A Bandwidth-saving Optimization for MPI Broadcast Collective Operation,
// P2S2 2015; the native variants are MPICH's.
// Steps: ceil(log2 N) + N - 1; by doubling 2 log2 N.
// Messages: N - 1 of the scatter, and of the allgather N (N - 1); for scatter_ring_opt less by the
// sum over all nodes of (chunks owned after the scatter - 1): 44 instead of 56 with 8 nodes, 75
// instead of 90 with 10. By doubling N log2 N.
// Scratch: of the enclosed ring and doubling what is dropped: n on the root's node. Otherwise none.
// Serves: any number of nodes, doubling powers of two; any root. Chunks per lane: N.
//
// Example, 4 nodes, root 0. Scatter: 0 sends the chunks 2 and 3 to 2, then 1 to 1; 2 sends 3 to 3.
// Ring with savings: 0 sends 0, 3 and 2 to 1; 1 sends 1 and 0 to 2, not 3, which 2 owns; 2 sends 2,
// 1 and 0 to 3; 3 sends nothing to 0, which owns all.

#include <algorithm>
#include <vector>

#include "collectives/algorithms/broadcast/exchange.h"

namespace hycoll {
namespace {

/// Nodes and chunks are numbered from the root's node on.
class ScatterAllgather {
 public:
  ScatterAllgather(ScheduleBuilder& builder, const BroadcastVector& vector)
      : builder_(builder),
        vector_(vector),
        node_count_(builder.shape().node_count()),
        dropped_(static_cast<std::size_t>(node_count_), -1) {}

  void append(int number, BroadcastExchange exchange) {
    append_scatter(number);
    if (exchange == BroadcastExchange::scatter_doubling) {
      append_doubling(number);
    } else {
      append_ring(number, exchange);
    }
    arrive(number, OnArrival::before_passing_on);
    arrive(number, OnArrival::after_passing_on);
  }

 private:
  void append_scatter(int number) {
    if (number > 0) {
      receive(number, number & (number - 1), owned(number), place(number));
      arrived_ = owned(number);
    }
    arrive(number, OnArrival::before_passing_on);
    int distance = 1;
    while (number + distance < node_count_ && (number & distance) == 0) distance *= 2;
    for (distance /= 2; distance > 0; distance /= 2) {
      if (number + distance < node_count_) {
        send(number, number + distance, owned(number + distance));
      }
    }
  }

  void append_ring(int number, BroadcastExchange exchange) {
    const bool saves = exchange == BroadcastExchange::scatter_ring_opt;
    const int right = (number + 1) % node_count_;
    const int left = (number + node_count_ - 1) % node_count_;
    for (int step = 0; step + 1 < node_count_; ++step) {
      const int given = (number + node_count_ - step) % node_count_;
      const int taken = (left + node_count_ - step) % node_count_;
      if (!saves || !owns(number, taken)) complete(number, left, {taken, 1});
      arrive(number, OnArrival::before_passing_on);
      if (!saves || !owns(right, given)) send(number, right, {given, 1});
      arrive(number, OnArrival::after_passing_on);
      if (!owns(number, taken)) arrived_ = {taken, 1};
    }
  }

  void append_doubling(int number) {
    for (int distance = 1; distance < node_count_; distance *= 2) {
      const int peer = number ^ distance;
      const ChunkRange taken{peer / distance * distance, distance};
      complete(number, peer, taken);
      arrive(number, OnArrival::before_passing_on);
      send(number, peer, {number / distance * distance, distance});
      arrive(number, OnArrival::after_passing_on);
      if (!owns(number, taken.first)) arrived_ = taken;
    }
  }

  int node_of(int number) const { return (vector_.root_node + number) % node_count_; }

  /// The chunks that a node has after the scatter.
  ChunkRange owned(int number) const {
    int count = node_count_;
    if (number > 0) count = std::min(number & -number, node_count_ - number);
    return {number, count};
  }
  bool owns(int number, int chunk) const {
    const ChunkRange range = owned(number);
    return range.first <= chunk && chunk < range.first + range.count;
  }

  Span span(BufferId buffer, ChunkRange chunks) const {
    return span_of(buffer, {vector_.chunks.first + chunks.first, chunks.count});
  }

  void send(int number, int to, ChunkRange chunks) {
    builder_.send(vector_.strands[static_cast<std::size_t>(node_of(number))], vector_.lane,
                  node_of(to), span(place(number), chunks));
  }

  /// Receives chunks of the allgather. Those that the node owns, all or none of them, are dropped.
  void complete(int number, int from, ChunkRange chunks) {
    receive(number, from, chunks, owns(number, chunks.first) ? dropped(number) : place(number));
  }

  void receive(int number, int from, ChunkRange chunks, BufferId into) {
    builder_.recv(vector_.strands[static_cast<std::size_t>(node_of(number))], vector_.lane,
                  node_of(from), span(into, chunks));
  }

  /// Does what is to be done, before or after passing on, with the chunks that arrived last.
  void arrive(int number, OnArrival when) {
    if (when != vector_.when || arrived_.count == 0) return;
    vector_.on_arrival(node_of(number), {vector_.chunks.first + arrived_.first, arrived_.count});
    arrived_ = {};
  }

  BufferId place(int number) const {
    return vector_.places[static_cast<std::size_t>(node_of(number))];
  }

  BufferId dropped(int number) {
    BufferId& buffer = dropped_[static_cast<std::size_t>(number)];
    if (buffer < 0) {
      const int worker = builder_.shape().leader(node_of(number), vector_.lane);
      const ChunkRange range = owned(number);
      buffer = builder_.add_scratch(worker, {vector_.chunks.first + range.first, range.count});
    }
    return buffer;
  }

  ScheduleBuilder& builder_;
  const BroadcastVector& vector_;
  int node_count_;
  ChunkRange arrived_{};           // on the node that is being appended
  std::vector<BufferId> dropped_;  // by number; -1 where nothing is
};

}  // namespace

void append_scatter_allgather(ScheduleBuilder& builder, BroadcastExchange exchange,
                              const BroadcastVector& vector) {
  ScatterAllgather parts(builder, vector);
  for (int number = 0; number < builder.shape().node_count(); ++number) {
    parts.append(number, exchange);
  }
}

}  // namespace hycoll
