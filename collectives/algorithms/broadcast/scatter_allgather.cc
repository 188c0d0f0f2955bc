// Scatter, then allgather: over a ring, over the ring that saves bandwidth, by doubling, or over a
// circulant graph.
//
// Idea: the vector is cut into one chunk per node. A binomial tree scatters it: whoever receives
// gets the chunks of all nodes below it, and passes on those of its children, so that at the end
// node r owns chunk r, and the inner nodes own those of their subtrees. The allgather completes
// what is missing: over the ring every node sends on to its right neighbour, in each of N - 1
// steps, the chunk that it got in the step before, starting with its own; by doubling, nodes
// exchange everything that their groups of 1, 2, 4, ... nodes have; over the circulant graph they
// double what they have, too, whatever their number (parts/allgather.cc).
// The enclosed ring (scatter_ring) also sends what the neighbour owns since the scatter, to the
// root everything; that is received and dropped. The other one (scatter_ring_opt) sends only what
// the neighbour lacks: a node whose subtree has c chunks receives c - 1 messages less. So do the
// circulant graph, and doubling by its second form (scatter_doubling_opt).
//
// Source: H. Zhou et al., A Bandwidth-saving Optimization for MPI Broadcast Collective Operation,
// P2S2 2015; the native variants are MPICH's; the circulant graph is J. L. Traeff's, Optimal,
// Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024.
// Steps: ceil(log2 N) + N - 1; by doubling 2 log2 N; over the circulant graph 2 ceil(log2 N).
// Messages: N - 1 of the scatter, and of the allgather N (N - 1); for scatter_ring_opt less by the
// sum over all nodes of (chunks owned after the scatter - 1): 44 instead of 56 with 8 nodes, 75
// instead of 90 with 10. By doubling N log2 N.
// Scratch: of the enclosed ring and doubling what is dropped: n on the root's node. Otherwise none.
// Serves: any number of nodes, doubling powers of two; any root.
// Chunks per lane: N.
//
// Example, 4 nodes, root 0. Scatter: 0 sends the chunks 2 and 3 to 2, then 1 to 1; 2 sends 3 to 3.
// Ring with savings: 0 sends 0, 3 and 2 to 1; 1 sends 1 and 0 to 2, not 3, which 2 owns; 2 sends 2,
// 1 and 0 to 3; 3 sends nothing to 0, which owns all.

#include <algorithm>
#include <utility>
#include <vector>

#include "collectives/algorithms/broadcast/exchange.h"
#include "collectives/algorithms/building_blocks/chunks.h"
#include "collectives/algorithms/building_blocks/rooted_parts.h"

namespace hycoll {
namespace {

/// What an allgather sends nodes that they have since the scatter.
enum class Owned { sent_and_dropped, left_out };

/// How the allgather numbers nodes and their chunks: as here, or backwards, from the last one on.
enum class Numbering { forwards, backwards };

/// Nodes and chunks are numbered from the root's node on.
class ScatterAllgather {
 public:
  ScatterAllgather(ScheduleBuilder& builder, const BroadcastVector& vector, Owned owned,
                   Numbering numbering = Numbering::forwards)
      : builder_(builder),
        vector_(vector),
        owned_(owned),
        numbering_(numbering),
        nodes_{.root_node = vector.root_node, .count = builder.shape().node_count()},
        number_(nodes_.number_of(vector.node)) {}

  void append_scatter() {
    RootedParts parts{.lane = vector_.lane,
                      .nodes = nodes_,
                      .number = number_,
                      .chunks =
                          [this](int first, int count) {
                            return std::vector{in_lane({first, count})};
                          },
                      .strand = vector_.strand,
                      .places = {span_of(vector_.place, vector_.chunks)}};
    parts.on_arrival = [this] { arrive(own(), OnArrival::before_passing_on); };
    append_parts_scatter(builder_, kBinomialPartsTree, parts);
  }

  /// What the allgather is to do; lives no longer than this object.
  GatheredBlocks gathered() {
    GatheredBlocks result{.lane = vector_.lane,
                          .count = nodes_.count,
                          .number = numbered(number_),
                          .nodes = [this](int number) { return nodes_.node_of(numbered(number)); },
                          .chunks = [this](ChunkRange blocks) { return in_lane(numbered(blocks)); },
                          .strand = vector_.strand,
                          .place = vector_.place};
    if (owned_ == Owned::left_out) {
      result.wanted = [this](int number, ChunkRange blocks) {
        return numbered(lacked(numbered(number), numbered(blocks)));
      };
    }
    // Those that the node owns, all or none of them in a message, are dropped.
    result.receives_in = [this](ChunkRange blocks) {
      return holds(own(), numbered(blocks).first) ? dropped() : vector_.place;
    };
    result.on_arrival = [this](ChunkRange blocks, OnArrival when) {
      if (vector_.is_at_root()) return;
      const ChunkRange chunks = numbered(blocks);
      if (holds(own(), chunks.first)) arrive(own(), when);
      const ChunkRange others = lacked(number_, chunks);
      if (others.count > 0) arrive(others, when);
    };
    return result;
  }

 private:
  /// From a number of the allgather's, or to one.
  int numbered(int number) const {
    return numbering_ == Numbering::forwards ? number : nodes_.count - 1 - number;
  }
  ChunkRange numbered(ChunkRange range) const {
    if (numbering_ == Numbering::forwards) return range;
    return {nodes_.count - range.first - range.count, range.count};
  }

  /// The chunks that a node has after the scatter.
  ChunkRange owned(int number) const {
    return {number, binomial_subtree_size(number, nodes_.count)};
  }
  ChunkRange own() const { return owned(number_); }
  static bool holds(ChunkRange range, int chunk) {
    return range.first <= chunk && chunk < range.first + range.count;
  }

  /// Of neighbouring chunks those that the node does not have after the scatter. What it has of
  /// them comes first: an allgather brings the chunks of the nodes that follow.
  ChunkRange lacked(int number, ChunkRange chunks) const {
    const ChunkRange has = owned(number);
    if (!holds(has, chunks.first)) return chunks;
    const int first = std::min(has.first + has.count, chunks.first + chunks.count);
    return {first, chunks.first + chunks.count - first};
  }

  ChunkRange in_lane(ChunkRange chunks) const {
    return {vector_.chunks.first + chunks.first, chunks.count};
  }

  /// Does what is to be done with chunks, all of those that the node owns or others; with the owned
  /// ones once.
  void arrive(ChunkRange chunks, OnArrival when) {
    if (when != vector_.when) return;
    if (chunks == own() && std::exchange(has_handled_own_, true)) return;
    vector_.on_arrival(in_lane(chunks));
  }

  BufferId dropped() {
    if (dropped_ == kNoBuffer) {
      const int worker = builder_.shape().leader(vector_.node, vector_.lane);
      dropped_ = builder_.add_scratch(worker, in_lane(own()));
    }
    return dropped_;
  }

  ScheduleBuilder& builder_;
  const BroadcastVector& vector_;
  Owned owned_;
  Numbering numbering_;
  NodesFromRoot nodes_;
  int number_;
  BufferId dropped_ = kNoBuffer;
  bool has_handled_own_ = false;
};

}  // namespace

void append_scatter_ring(ScheduleBuilder& builder, const BroadcastVector& vector) {
  ScatterAllgather parts(builder, vector, Owned::sent_and_dropped);
  parts.append_scatter();
  append_ring_allgather(builder, parts.gathered());
}

void append_scatter_ring_opt(ScheduleBuilder& builder, const BroadcastVector& vector) {
  ScatterAllgather parts(builder, vector, Owned::left_out);
  parts.append_scatter();
  append_ring_allgather(builder, parts.gathered());
}

void append_scatter_circulant(ScheduleBuilder& builder, const BroadcastVector& vector) {
  // Backwards the root sends to those nodes that it sent to before, not to those that wait for late
  // ones, whose small messages long ones would keep waiting.
  ScatterAllgather parts(builder, vector, Owned::left_out, Numbering::backwards);
  parts.append_scatter();
  append_circulant_allgather(builder, parts.gathered());
}

void append_scatter_doubling_opt(ScheduleBuilder& builder, const BroadcastVector& vector) {
  ScatterAllgather parts(builder, vector, Owned::left_out);
  parts.append_scatter();
  append_doubling_allgather(builder, parts.gathered());
}

void append_scatter_doubling(ScheduleBuilder& builder, const BroadcastVector& vector) {
  ScatterAllgather parts(builder, vector, Owned::sent_and_dropped);
  parts.append_scatter();
  append_doubling_allgather(builder, parts.gathered());
}

}  // namespace hycoll
