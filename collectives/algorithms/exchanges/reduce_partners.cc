#include "collectives/algorithms/exchanges/reduce_partners.h"

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

}  // namespace hycoll
