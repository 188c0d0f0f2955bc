// Reduce-scatter over a circulant graph.
//
// Idea: with the skips s_0 = N, s_1, ..., s_q = 1, each half of the one before, rounded up, node r
// keeps its parts in the order R[i] = part r + i (all modulo N). In round k it sends R[s_k+1] to
// R[s_k - 1] to node r + s_k+1, for which these are R[0] to R[s_k - s_k+1 - 1], and combines what
// it gets itself with its own there. So the parts that matter shrink from N to 1 in q rounds, by
// half each, whatever N is: nobody folds. The allgather (allgather.cc) goes the same ways back.
//
// Source: J. L. Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024.
// Steps: q = ceil(log2 N).
// Messages: q from every node, and one more in a round in which what it sends reaches over the last
// part to the first one. For an odd N from 7 on another one in round 1: the part in the middle,
// which nothing has been combined with, lies elsewhere than those sent with it. Parts whose chunks
// lie apart have messages of their own.
// Sent: n (N - 1) / N elements for equal parts, the least possible.
// Scratch: what arrives, at most half of the parts, and as much to combine in where the sum may not
// be written.
// Serves: any number of nodes. The operands of a part stand in an order of its own.
//
// Example, 5 nodes, skips 5, 3, 2, 1, node 0: round 0, it sends parts 3 and 4 to node 3 and adds
// node 2's contributions to parts 0 and 1. Round 1, it sends part 2 to node 2, and adds what node 3
// has of part 0. Round 2, it sends part 1 to node 1, and completes part 0 with what node 4 has.

#include "collectives/algorithms/building_blocks/circulant.h"

#include <algorithm>

#include "collectives/algorithms/building_blocks/chunks.h"

namespace hycoll {
namespace {

/// One node of the reduce-scatter. Parts are numbered from its own on.
class NodeRounds {
 public:
  NodeRounds(ScheduleBuilder& builder, const CirculantVector& vector)
      : builder_(builder),
        vector_(vector),
        node_(vector.node),
        node_count_(builder.shape().node_count()),
        accumulator_(vector.accumulator) {
    const int leader = builder.shape().leader(node_, vector.lane);
    const std::vector<ChunkRange> combined_here = ranges(0, node_count_ / 2);
    received_ = add_scratch_for(builder, leader, combined_here);
    // Between two nodes the only step combines into the result.
    if (!accumulator_.empty() || node_count_ == 2) return;
    accumulator_ = vector_.sum.is_input() ? add_scratch_for(builder, leader, combined_here)
                                          : vector_.sum.places();
  }

  void append() {
    const std::vector<int> skips = circulant_skips(node_count_);
    for (std::size_t round = 1; round < skips.size(); ++round) {
      append_round(skips[round], skips[round - 1] - skips[round]);
    }
  }

 private:
  /// The chunks of parts, in as few ranges as possible.
  std::vector<ChunkRange> ranges(int first, int count) const {
    std::vector<ChunkRange> result;
    for (const ChunkRange& parts : cyclic_ranges(node_ + first, count, node_count_)) {
      for (const ChunkRange& chunks : vector_.parts(parts.first, parts.count)) {
        result.push_back(chunks);
      }
    }
    return result;
  }

  bool is_combined(int part) const { return part < combined_count_; }

  Span current(bool combined, ChunkRange chunks) {
    return combined ? place_of(accumulator_, chunks) : vector_.sum.at(chunks);
  }

  /// How `count` parts travel that their sender numbers from `skip` on: together, or in two runs
  /// where only those before the one in the middle have been combined. From 0 on here.
  std::vector<ChunkRange> runs(int skip, int count) const {
    const int before_middle = node_count_ / 2 - skip;
    const bool is_mixed = node_count_ % 2 == 1 && 0 < before_middle && before_middle < count;
    if (!is_mixed) return {{0, count}};
    return {{0, before_middle}, {before_middle, count - before_middle}};
  }

  void append_round(int skip, int count) {
    const int to = (node_ + skip) % node_count_;
    const int from = (node_ + node_count_ - skip) % node_count_;
    for (const ChunkRange& run : runs(skip, count)) {
      for (const ChunkRange& chunks : ranges(run.first, run.count)) {
        builder_.recv(vector_.strand, vector_.lane, from, place_of(received_, chunks));
      }
    }
    for (const ChunkRange& run : runs(skip, count)) {
      const bool combined = is_combined(skip + run.first);
      for (const ChunkRange& chunks : ranges(skip + run.first, run.count)) {
        builder_.send(vector_.strand, vector_.lane, to, current(combined, chunks));
      }
    }
    if (skip == 1) return complete();
    const bool own_combined = is_combined(0);
    for (const ChunkRange& chunks : ranges(0, count)) {
      builder_.reduce(vector_.strand, {place_of(accumulator_, chunks)},
                      {place_of(received_, chunks), current(own_combined, chunks)});
    }
    combined_count_ = std::max(combined_count_, count);
  }

  void complete() {
    for (const Span& piece : vector_.results) {
      const ChunkRange chunks{piece.first_chunk, piece.chunk_count};
      builder_.reduce(vector_.strand, {piece},
                      {place_of(received_, chunks), current(is_combined(0), chunks)});
    }
  }

  ScheduleBuilder& builder_;
  const CirculantVector& vector_;
  int node_;
  int node_count_;
  std::vector<Span> accumulator_;
  std::vector<Span> received_;
  int combined_count_ = 0;  // the parts from 0 on that have been combined with others
};

}  // namespace

std::vector<int> circulant_skips(int node_count) {
  std::vector<int> skips{node_count};
  while (skips.back() > 1) skips.push_back((skips.back() + 1) / 2);
  return skips;
}

void append_circulant_reduce_scatter(ScheduleBuilder& builder, const CirculantVector& vector) {
  NodeRounds(builder, vector).append();
}

}  // namespace hycoll
