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

#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/parts/fold.h"

namespace hycoll {
namespace {

/// One partner's steps. A segment goes into the next step as soon as it is reduced.
class PartnerSteps {
 public:
  PartnerSteps(ScheduleBuilder& builder, const LaneVector& vector,
               const std::vector<Partner>& partners, int partner)
      : builder_(builder),
        vector_(vector),
        partners_(partners),
        partner_(partner),
        node_(acting(partner)),
        strand_(vector.strands[static_cast<std::size_t>(node_)]),
        source_(vector.sources[static_cast<std::size_t>(node_)]),
        result_(vector.results[static_cast<std::size_t>(node_)]),
        scratch_(builder.add_scratch(builder.shape().leader(node_, vector.lane), vector.chunks)) {}

  void append() {
    const auto partner_count = static_cast<int>(partners_.size());
    fold();
    for (int segment = 0; segment < vector_.chunks.count; ++segment) exchange(1, segment);
    for (int distance = 1; distance < partner_count; distance *= 2) {
      for (int segment = 0; segment < vector_.chunks.count; ++segment) {
        combine(distance, segment);
        if (2 * distance < partner_count) exchange(2 * distance, segment);
      }
    }
  }

 private:
  int acting(int partner) const { return partners_[static_cast<std::size_t>(partner)].acting; }
  int peer(int distance) const { return acting(partner_ ^ distance); }
  ChunkRange chunk(int segment) const { return {vector_.chunks.first + segment, 1}; }

  /// What the partner holds when a step begins.
  Span mine(int distance, int segment) const {
    return span_of(distance == 1 ? folded_ : result_, chunk(segment));
  }

  void fold() {
    folded_ = source_;
    const Partner& partner = partners_[static_cast<std::size_t>(partner_)];
    if (partner.folding() < 0) return;
    const Span given =
        span_of(vector_.sources[static_cast<std::size_t>(partner.folding())], vector_.chunks);
    append_fold(
        builder_, {.lane = vector_.lane, .strands = vector_.strands}, partner, given,
        span_of(scratch_, vector_.chunks), [&] { return span_of(source_, vector_.chunks); },
        span_of(result_, vector_.chunks));
    folded_ = result_;
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
  const std::vector<Partner>& partners_;
  int partner_;
  int node_;
  StrandId strand_;
  BufferId source_;
  BufferId result_;
  BufferId scratch_;
  BufferId folded_ = kNoBuffer;  // what the partner begins with
};

}  // namespace

void append_recursive_doubling(ScheduleBuilder& builder, const LaneVector& vector) {
  const std::vector<Partner> partners = fold_partners(builder.shape().node_count());
  for (int partner = 0; partner < static_cast<int>(partners.size()); ++partner) {
    PartnerSteps(builder, vector, partners, partner).append();
  }
  append_unfold_all(builder, partners, vector);
}

}  // namespace hycoll
