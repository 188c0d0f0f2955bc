// Recursive doubling.
//
// Idea: in step k every partner exchanges its whole vector with the partner whose number differs in
// bit k, and both reduce. After log2 p steps everybody holds the combination of all. The operands
// stand in node order, so the result has the same tree, hence the same bits, on every node.
//
// Source: DPML, section 5.1, equation 1 (its inter-node phase: equation 4); Thakur, Rabenseifner,
// Gropp 2005.
// Steps: log2 p, p the largest power of two <= N, and at most 2 more where N is not a power of two
// (fold.h). Sent: n log2 p elements by every partner, and n more by those that fold.
// Serves: any number of nodes. Best for short vectors.
//
// Example, 3 nodes with the values a, b, c: p = 2. Fold: node 0 sends a to node 1, which holds ab.
// Partners are nodes 1 and 2: they exchange ab and c, both compute abc. Unfold: node 1 sends abc to
// node 0.

#include "collectives/algorithms/exchanges/exchange.h"
#include "collectives/algorithms/exchanges/fold.h"

namespace hycoll {

namespace {

/// One partner's steps. A segment goes into the next step as soon as it is reduced.
class PartnerSteps {
 public:
  PartnerSteps(ScheduleBuilder& builder, const LaneVector& vector, const PairwiseFold& fold,
               const std::vector<BufferId>& scratch, int partner)
      : builder_(builder),
        vector_(vector),
        fold_(fold),
        partner_(partner),
        node_(fold.node(partner)),
        strand_(vector.strands[static_cast<std::size_t>(node_)]),
        result_(vector.results[static_cast<std::size_t>(node_)]),
        scratch_(scratch[static_cast<std::size_t>(node_)]) {}

  void append() {
    const int partner_count = fold_.partner_count();
    for (int segment = 0; segment < vector_.chunks.count; ++segment) exchange(1, segment);
    for (int distance = 1; distance < partner_count; distance *= 2) {
      for (int segment = 0; segment < vector_.chunks.count; ++segment) {
        combine(distance, segment);
        if (2 * distance < partner_count) exchange(2 * distance, segment);
      }
    }
  }

 private:
  int peer(int distance) const { return fold_.node(partner_ ^ distance); }
  ChunkRange chunk(int segment) const { return {vector_.chunks.first + segment, 1}; }

  /// What the partner holds when a step begins.
  Span mine(int distance, int segment) const {
    return span_of(distance == 1 ? fold_.folded(partner_) : result_, chunk(segment));
  }

  void exchange(int distance, int segment) {
    builder_.recv(strand_, vector_.lane, peer(distance), span_of(scratch_, chunk(segment)));
    builder_.send(strand_, vector_.lane, peer(distance), mine(distance, segment));
  }

  void combine(int distance, int segment) {
    reduce_in_node_order(builder_, strand_, span_of(result_, chunk(segment)), node_,
                         mine(distance, segment), peer(distance),
                         span_of(scratch_, chunk(segment)));
  }

  ScheduleBuilder& builder_;
  const LaneVector& vector_;
  const PairwiseFold& fold_;
  int partner_;
  int node_;
  StrandId strand_;
  BufferId result_;
  BufferId scratch_;
};

}  // namespace

void append_recursive_doubling(ScheduleBuilder& builder, const LaneVector& vector) {
  const std::vector<BufferId> scratch = add_lane_scratch(builder, vector);
  const PairwiseFold fold(builder, vector, scratch);
  for (int partner = 0; partner < fold.partner_count(); ++partner) {
    PartnerSteps(builder, vector, fold, scratch, partner).append();
  }
  fold.unfold(builder, vector);
}

}  // namespace hycoll
