#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_RADICES_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_RADICES_H_

#include <algorithm>
#include <functional>
#include <vector>

namespace hycoll {

/// Numbers from 2 on whose product is `node_count`, the largest first; none of one node. They are
/// its prime factors, except that two twos are a four, and a two that is left joins a three or a
/// four: the further messages of a large round are under way together, those of a further round
/// are waited for.
inline std::vector<int> radices_of(int node_count) {
  std::vector<int> radices;
  int rest = node_count;
  for (; rest % 4 == 0; rest /= 4) radices.push_back(4);
  const bool is_two_left = rest % 2 == 0;
  if (is_two_left) rest /= 2;
  for (int factor = 3; factor * factor <= rest; factor += 2) {
    for (; rest % factor == 0; rest /= factor) radices.push_back(factor);
  }
  if (rest > 1) radices.push_back(rest);
  const auto least = std::ranges::min_element(radices);
  if (is_two_left && least != radices.end() && *least <= 4) {
    *least *= 2;
  } else if (is_two_left) {
    radices.push_back(2);
  }
  std::ranges::sort(radices, std::greater());
  return radices;
}

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_RADICES_H_
