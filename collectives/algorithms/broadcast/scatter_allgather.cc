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

#include <utility>
#include <vector>

#include "collectives/algorithms/broadcast/exchange.h"
#include "collectives/algorithms/parts/chunks.h"

namespace hycoll {
namespace {

/// What an allgather sends nodes that they have since the scatter.
enum class Owned { sent_and_dropped, left_out };

/// Nodes and chunks are numbered from the root's node on.
class ScatterAllgather {
 public:
  ScatterAllgather(ScheduleBuilder& builder, const BroadcastVector& vector, Owned owned)
      : builder_(builder),
        vector_(vector),
        owned_(owned),
        node_count_(builder.shape().node_count()),
        dropped_(static_cast<std::size_t>(node_count_), kNoBuffer),
        handled_(static_cast<std::size_t>(node_count_), 0) {}

  void append_scatter() {
    for (int number = 0; number < node_count_; ++number) {
      const auto [parent, children] = place_in_binomial_tree(number, node_count_);
      const StrandId strand = vector_.strands[node_of(number)];
      if (parent >= 0) {
        builder_.recv(strand, vector_.lane, node_number(parent), in_place(number, owned(number)));
        arrive(number, owned(number), OnArrival::before_passing_on);
      }
      for (const int child : children) {
        builder_.send(strand, vector_.lane, node_number(child), in_place(number, owned(child)));
      }
    }
  }

  /// Appends the allgather of every node.
  void append_allgather(void (*append)(ScheduleBuilder& builder, const GatheredBlocks& gathered)) {
    for (const int node : builder_.nodes()) {
      append(builder_, gathered((node + node_count_ - vector_.root_node) % node_count_));
    }
  }

 private:
  /// What the allgather is to do at the node of a number; lives no longer than this object.
  GatheredBlocks gathered(int own) {
    GatheredBlocks result{.lane = vector_.lane,
                          .count = node_count_,
                          .number = own,
                          .nodes = [this](int number) { return node_number(number); },
                          .chunks = [this](ChunkRange blocks) { return in_lane(blocks); },
                          .strand = vector_.strands[node_of(own)],
                          .place = vector_.places[node_of(own)]};
    if (owned_ == Owned::left_out) {
      result.wants = [this](int number, ChunkRange blocks) { return !owns(number, blocks.first); };
    }
    // Those that the node owns, all or none of them, are dropped.
    result.receives_in = [this, own](ChunkRange blocks) {
      return owns(own, blocks.first) ? dropped(own) : vector_.places[node_of(own)];
    };
    result.on_arrival = [this, own](ChunkRange blocks, OnArrival when) {
      if (own == 0) return;
      arrive(own, owns(own, blocks.first) ? owned(own) : blocks, when);
    };
    return result;
  }

  int node_number(int number) const { return (vector_.root_node + number) % node_count_; }
  std::size_t node_of(int number) const { return static_cast<std::size_t>(node_number(number)); }

  /// The chunks that a node has after the scatter.
  ChunkRange owned(int number) const {
    return {number, binomial_subtree_size(number, node_count_)};
  }
  bool owns(int number, int chunk) const {
    const ChunkRange range = owned(number);
    return range.first <= chunk && chunk < range.first + range.count;
  }

  ChunkRange in_lane(ChunkRange chunks) const {
    return {vector_.chunks.first + chunks.first, chunks.count};
  }
  Span in_place(int number, ChunkRange chunks) const {
    return span_of(vector_.places[node_of(number)], in_lane(chunks));
  }

  /// Does what is to be done with chunks, all of those that the node owns or others; with the owned
  /// ones once.
  void arrive(int number, ChunkRange chunks, OnArrival when) {
    if (when != vector_.when) return;
    if (chunks == owned(number) && std::exchange(handled_[static_cast<std::size_t>(number)], 1)) {
      return;
    }
    vector_.on_arrival(node_number(number), in_lane(chunks));
  }

  BufferId dropped(int number) {
    BufferId& buffer = dropped_[static_cast<std::size_t>(number)];
    if (buffer == kNoBuffer) {
      const int worker = builder_.shape().leader(node_number(number), vector_.lane);
      buffer = builder_.add_scratch(worker, in_lane(owned(number)));
    }
    return buffer;
  }

  ScheduleBuilder& builder_;
  const BroadcastVector& vector_;
  Owned owned_;
  int node_count_;
  std::vector<BufferId> dropped_;  // by number; kNoBuffer where nothing is
  std::vector<char> handled_;      // by number: whether the owned chunks are
};

}  // namespace

void append_scatter_ring(ScheduleBuilder& builder, const BroadcastVector& vector) {
  ScatterAllgather parts(builder, vector, Owned::sent_and_dropped);
  parts.append_scatter();
  parts.append_allgather(append_ring_allgather);
}

void append_scatter_ring_opt(ScheduleBuilder& builder, const BroadcastVector& vector) {
  ScatterAllgather parts(builder, vector, Owned::left_out);
  parts.append_scatter();
  parts.append_allgather(append_ring_allgather);
}

void append_scatter_doubling(ScheduleBuilder& builder, const BroadcastVector& vector) {
  ScatterAllgather parts(builder, vector, Owned::sent_and_dropped);
  parts.append_scatter();
  parts.append_allgather(append_doubling_allgather);
}

}  // namespace hycoll
