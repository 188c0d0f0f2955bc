// Binomial tree to a root.
//
// Idea: in step k those partners that still hold something pair up with the partner whose number
// differs in bit k: one of the two hands over what it holds and is done, the other combines. Of
// each pair that one goes on whose bit k is the root's, so that the root ends up with everything
// without a last message; which nodes are combined in step k does not depend on the root, and
// neither does the tree of the operands. Vectors are cut into segments: a segment goes up as soon
// as it is combined.
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication
// Operations in MPICH, 2005; the numbering by the root's bits is ours.
// Steps: ceil(log2 N).
// Messages: N - 1 for each segment.
// Sent: n elements by every node but the root's. The tree is that of recursive doubling.
// Serves: any number of nodes, any root.
// Chunks per lane: the segments.
//
// Example, 5 nodes, root on node 0: p = 4, and the nodes 0 and 1 are one partner. Node 1 hands
// over to node 0, which acts since it is the root's; step 0, node 2 to node 0 and node 4 to node
// 3; step 1, node 3 to node 0.

#include <algorithm>
#include <utility>
#include <vector>

#include "collectives/algorithms/building_blocks/fold.h"
#include "collectives/algorithms/building_blocks/trees.h"
#include "collectives/algorithms/reduce/exchange.h"

namespace hycoll {
namespace {

/// The binomial tree over the partners, whose numbers are those that differ from the root's in the
/// number's bits. Children come in the order in which they are combined.
TreePlace place_in_tree(const Fold& fold, int node, int root_node) {
  const int root = fold.partner_of(root_node);
  const int partner = fold.partner_of(node);
  const Partner self = fold.partner(partner);
  if (self.acting != node) return {.parent = self.acting, .children = {}};
  TreePlace place = renamed(place_in_binomial_tree(partner ^ root, fold.partner_count()),
                            [&](int number) { return fold.acting(number ^ root); });
  if (self.folding() >= 0) place.children.push_back(self.folding());
  std::ranges::reverse(place.children);
  return place;
}

/// One node's steps.
class NodeSteps {
 public:
  NodeSteps(ScheduleBuilder& builder, RootedVector& vector, TreePlace place)
      : builder_(builder),
        vector_(vector),
        place_(std::move(place)),
        strand_(vector.strand),
        sum_(vector.sum) {
    if (place_.children.empty()) return;
    const int leader = builder.shape().leader(vector.node, vector.lane);
    received_ = builder.add_scratch(leader, vector.chunks);
    combined_ = vector.is_at_root() ? vector.result.buffer
                : sum_.is_input()   ? builder.add_scratch(leader, vector.chunks)
                                    : sum_.places().front().buffer;
  }

  void append() {
    if (!place_.children.empty()) {
      for (int s = 0; s < vector_.segments; ++s) receive(0, s);
    }
    for (int s = 0; s < vector_.segments; ++s) {
      Span held = sum_.at(chunk(s));
      for (std::size_t child = 0; child < place_.children.size(); ++child) {
        const Span result = span_of(combined_, chunk(s));
        reduce_in_node_order(builder_, strand_, result, vector_.node, held, place_.children[child],
                             span_of(received_, chunk(s)));
        held = result;
        if (child + 1 < place_.children.size()) receive(child + 1, s);
      }
      if (place_.parent >= 0) builder_.send(strand_, vector_.lane, place_.parent, held);
    }
  }

 private:
  ChunkRange chunk(int segment) const { return {vector_.chunks.first + segment, 1}; }

  void receive(std::size_t child, int segment) {
    builder_.recv(strand_, vector_.lane, place_.children[child],
                  span_of(received_, chunk(segment)));
  }

  ScheduleBuilder& builder_;
  RootedVector& vector_;
  TreePlace place_;
  StrandId strand_;
  NodeSum& sum_;
  BufferId received_ = -1;
  BufferId combined_ = -1;
};

}  // namespace

void append_binomial_reduce(ScheduleBuilder& builder, RootedVector& vector) {
  const Fold fold(builder.shape().node_count(), vector.root_node);
  NodeSteps(builder, vector, place_in_tree(fold, vector.node, vector.root_node)).append();
}

}  // namespace hycoll
