// Recursive doubling.
//
// Idea: in step k every partner exchanges its whole vector with the partner whose number differs in
// bit k, and both reduce. After log2 p steps everybody holds the combination of all. The operands
// stand in node order, so the result has the same tree, hence the same bits, on every node.
//
// Source: DPML, section 5.1, equation 1 (its inter-node phase: equation 4); Thakur, Rabenseifner,
// Gropp 2005.
// Steps: log2 p, p the largest power of two <= N, and at most 2 more where N is not a power of two
// (fold.h).
// Sent: n log2 p elements by every partner, and n more by those that fold.
// Serves: any number of nodes. Best for short vectors.
//
// Example, 3 nodes with the values a, b, c: p = 2. Fold: node 0 sends a to node 1, which holds ab.
// Partners are nodes 1 and 2: they exchange ab and c, both compute abc. Unfold: node 1 sends abc to
// node 0.

#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/building_blocks/fold.h"

namespace hycoll {
namespace {

/// One partner's steps. A segment goes into the next step as soon as it is reduced.
class PartnerSteps {
 public:
  PartnerSteps(ScheduleBuilder& builder, const Fold& fold, const LaneVector& vector)
      : builder_(builder),
        fold_(fold),
        vector_(vector),
        partner_(fold.partner_of(vector.node)),
        scratch_(add_lane_scratch(builder, vector)) {}

  void append() {
    fold();
    for (int segment = 0; segment < vector_.chunks.count; ++segment) exchange(1, segment);
    for (int distance = 1; distance < fold_.partner_count(); distance *= 2) {
      for (int segment = 0; segment < vector_.chunks.count; ++segment) {
        combine(distance, segment);
        if (2 * distance < fold_.partner_count()) exchange(2 * distance, segment);
      }
    }
  }

 private:
  int peer(int distance) const { return fold_.acting(partner_ ^ distance); }
  ChunkRange chunk(int segment) const { return {vector_.chunks.first + segment, 1}; }

  /// What the partner holds when a step begins.
  Span mine(int distance, int segment) const {
    return span_of(distance == 1 ? folded_ : vector_.result, chunk(segment));
  }

  void fold() {
    folded_ = vector_.source;
    const Partner pair = fold_.partner(partner_);
    if (pair.folding() < 0) return;
    append_fold(
        builder_, {.lane = vector_.lane, .strand = vector_.strand}, pair,
        span_of(scratch_, vector_.chunks), [&] { return vector_.whole_source(); },
        vector_.whole_result());
    folded_ = vector_.result;
  }

  void exchange(int distance, int segment) {
    builder_.recv(vector_.strand, vector_.lane, peer(distance), span_of(scratch_, chunk(segment)));
    builder_.send(vector_.strand, vector_.lane, peer(distance), mine(distance, segment));
  }

  void combine(int distance, int segment) {
    reduce_in_node_order(builder_, vector_.strand, span_of(vector_.result, chunk(segment)),
                         vector_.node, mine(distance, segment), peer(distance),
                         span_of(scratch_, chunk(segment)));
  }

  ScheduleBuilder& builder_;
  const Fold& fold_;
  const LaneVector& vector_;
  int partner_;
  BufferId scratch_;
  BufferId folded_ = kNoBuffer;  // what the partner begins with
};

}  // namespace

void append_recursive_doubling(ScheduleBuilder& builder, const LaneVector& vector) {
  const Fold fold(builder.shape().node_count());
  const Partner partner = fold.partner(fold.partner_of(vector.node));
  if (partner.acting == vector.node) {
    PartnerSteps(builder, fold, vector).append();
  } else {
    builder.send(vector.strand, vector.lane, partner.acting, vector.whole_source());
  }
  append_unfold(builder, {.lane = vector.lane, .strand = vector.strand}, partner, vector.node,
                vector.whole_result());
}

}  // namespace hycoll
