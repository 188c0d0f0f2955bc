// Pairwise reduce-scatter: every node sends each part straight to the node that it belongs to.
//
// Idea: nothing is passed on, so nothing waits for anybody but its receiver, and the receiver is
// free in how it combines: it does so in the tree that all canonical algorithms share (fold.h),
// and reads every operand once but for the few that stand for subtrees. A node reduces a part only
// when it sends it, so the first part travels while the next is reduced.
//
// Source: the pairwise exchange of R. Thakur, R. Rabenseifner, W. Gropp, Optimization of
// Collective Communication Operations in MPICH, 2005, with all messages under way at once.
// Steps: 1.
// Messages: N - 1 from every node for each segment.
// Sent: the parts of the other nodes, n (N - 1) / N elements for equal parts, the least possible.
// Memory: N - 1 times the own part, besides the sums.
// Serves: any number of nodes.
//
// Example, 4 nodes: node 0 gets b, c and d of its part from nodes 1, 2 and 3; it computes cd in
// place of c, then a b cd, in this order, into the result.

#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/fold.h"
#include "collectives/algorithms/reduce_scatter/exchange.h"

namespace hycoll {
namespace {

/// Combines operands of all nodes in the canonical tree. All operands but one's own are scratch.
class CanonicalTree {
 public:
  CanonicalTree(ScheduleBuilder& builder, StrandId strand, int own_node, std::vector<Span> operands)
      : builder_(builder),
        strand_(strand),
        own_node_(own_node),
        operands_(std::move(operands)),
        fold_(static_cast<int>(operands_.size())) {}

  void append(Span result) {
    builder_.reduce(strand_, std::span(&result, 1), sources_of(0, fold_.partner_count()));
  }

 private:
  /// What, folded from the left, is the tree over some partners: its left spine, so that one step
  /// reads all of it. Appends the steps that compute the right subtrees.
  std::vector<Span> sources_of(int first, int count) {
    if (count == 1) {
      const Partner partner = fold_.partner(first);
      const auto begin = operands_.begin() + partner.first_node;
      return {begin, begin + partner.node_count};
    }
    std::vector<Span> sources = sources_of(first, count / 2);
    sources.push_back(value_of(first + count / 2, count / 2));
    return sources;
  }

  /// Where the tree over some partners lies once it is computed: in place of one of its operands.
  Span value_of(int first, int count) {
    const std::vector<Span> sources = sources_of(first, count);
    if (sources.size() == 1) return sources.front();
    const bool own_is_first = sources.front() == operands_[static_cast<std::size_t>(own_node_)];
    const Span value = sources[own_is_first ? 1 : 0];
    builder_.reduce(strand_, std::span(&value, 1), sources);
    return value;
  }

  ScheduleBuilder& builder_;
  StrandId strand_;
  int own_node_;
  std::vector<Span> operands_;  // by node
  Fold fold_;
};

class NodeSteps {
 public:
  NodeSteps(ScheduleBuilder& builder, PartedVector& vector)
      : builder_(builder),
        vector_(vector),
        node_(vector.node),
        node_count_(builder.shape().node_count()),
        strand_(vector.strand),
        sum_(vector.sum) {
    const int leader = builder.shape().leader(node_, vector.lane);
    const ChunkRange own = vector.parts(node_);
    for (int peer = 0; peer < node_count_; ++peer) {
      received_.push_back(peer == node_ ? -1 : builder.add_scratch(leader, own));
    }
  }

  void append() {
    for (int s = 0; s < vector_.segments; ++s) {
      for (int distance = 1; distance < node_count_; ++distance) {
        const int from = (node_ + node_count_ - distance) % node_count_;
        builder_.recv(strand_, vector_.lane, from,
                      span_of(received_[static_cast<std::size_t>(from)], segment(node_, s)));
      }
    }
    for (int s = 0; s < vector_.segments; ++s) {
      for (int distance = 1; distance < node_count_; ++distance) {
        const int to = (node_ + distance) % node_count_;
        builder_.send(strand_, vector_.lane, to, sum_.at(segment(to, s)));
      }
    }
    for (int s = 0; s < vector_.segments; ++s) {
      for (const Span& piece : clip(vector_.results, segment(node_, s))) {
        combine(piece);
      }
    }
  }

 private:
  ChunkRange segment(int node, int s) const {
    return segment_of(vector_.parts(node), vector_.segments, s);
  }

  void combine(Span piece) {
    const ChunkRange chunks{piece.first_chunk, piece.chunk_count};
    std::vector<Span> operands;
    for (int node = 0; node < node_count_; ++node) {
      operands.push_back(node == node_
                             ? sum_.at(chunks)
                             : span_of(received_[static_cast<std::size_t>(node)], chunks));
    }
    CanonicalTree(builder_, strand_, node_, std::move(operands)).append(piece);
    vector_.on_result(piece);
  }

  ScheduleBuilder& builder_;
  PartedVector& vector_;
  int node_;
  int node_count_;
  StrandId strand_;
  NodeSum& sum_;
  std::vector<BufferId> received_;  // by sending node
};

}  // namespace

void append_pairwise_reduce_scatter(ScheduleBuilder& builder, PartedVector& vector) {
  NodeSteps(builder, vector).append();
}

}  // namespace hycoll
