#include "collectives/algorithms/parts/fold.h"

#include <algorithm>
#include <bit>

namespace hycoll {

std::vector<Partner> fold_partners(int node_count, int preferred) {
  const auto partner_count = static_cast<int>(std::bit_floor(static_cast<unsigned>(node_count)));
  const int pair_count = node_count - partner_count;
  std::vector<Partner> partners;
  for (int pair = 0; pair < pair_count; ++pair) {
    const int first = 2 * pair;
    partners.push_back(
        {.first_node = first, .node_count = 2, .acting = preferred == first ? first : first + 1});
  }
  for (int node = 2 * pair_count; node < node_count; ++node) {
    partners.push_back({.first_node = node, .node_count = 1, .acting = node});
  }
  return partners;
}

int partner_of(const std::vector<Partner>& partners, int node) {
  const auto partner = std::find_if(partners.begin(), partners.end(), [&](const Partner& p) {
    return p.first_node <= node && node < p.first_node + p.node_count;
  });
  return static_cast<int>(partner - partners.begin());
}

void append_fold(ScheduleBuilder& builder, const FoldLane& lane, const Partner& partner, Span given,
                 Span received, const std::function<Span()>& own, Span result) {
  const int from = partner.folding();
  const int to = partner.acting;
  const StrandId acting = lane.strands[static_cast<std::size_t>(to)];
  builder.send(lane.strands[static_cast<std::size_t>(from)], lane.lane, to, given);
  builder.recv(acting, lane.lane, from, received);
  reduce_in_node_order(builder, acting, result, to, own(), from, received);
}

void append_unfold(ScheduleBuilder& builder, const FoldLane& lane, const Partner& partner,
                   Span result, Span received) {
  const int to = partner.folding();
  builder.send(lane.strands[static_cast<std::size_t>(partner.acting)], lane.lane, to, result);
  builder.recv(lane.strands[static_cast<std::size_t>(to)], lane.lane, partner.acting, received);
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
