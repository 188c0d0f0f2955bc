#include "collectives/algorithms/building_blocks/fold.h"

#include <bit>

namespace hycoll {
namespace {

int power_of_two_within(int node_count) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(node_count)));
}

}  // namespace

Fold::Fold(int node_count, int preferred)
    : pair_count_(node_count - power_of_two_within(node_count)),
      partner_count_(power_of_two_within(node_count)),
      preferred_(preferred) {}

Partner Fold::partner(int index) const {
  if (index >= pair_count_) {
    const int node = index + pair_count_;
    return {.first_node = node, .node_count = 1, .acting = node};
  }
  const int first = 2 * index;
  return {.first_node = first, .node_count = 2, .acting = preferred_ == first ? first : first + 1};
}

int Fold::partner_of(int node) const noexcept {
  return node < 2 * pair_count_ ? node / 2 : node - pair_count_;
}

void append_fold(ScheduleBuilder& builder, const FoldLane& lane, const Partner& partner,
                 Span received, const std::function<Span()>& own, Span result) {
  builder.recv(lane.strand, lane.lane, partner.folding(), received);
  reduce_in_node_order(builder, lane.strand, result, partner.acting, own(), partner.folding(),
                       received);
}

void append_unfold(ScheduleBuilder& builder, const FoldLane& lane, const Partner& partner, int node,
                   Span result) {
  if (partner.folding() < 0) return;
  if (node == partner.acting) {
    builder.send(lane.strand, lane.lane, partner.folding(), result);
  } else {
    builder.recv(lane.strand, lane.lane, partner.acting, result);
  }
}

void reduce_in_node_order(ScheduleBuilder& builder, StrandId strand, Span result, int node_a,
                          Span a, int node_b, Span b) {
  if (node_a < node_b) {
    builder.reduce(strand, {result}, {a, b});
  } else {
    builder.reduce(strand, {result}, {b, a});
  }
}

}  // namespace hycoll
