#include "collectives/algorithms/building_blocks/trees.h"

#include <algorithm>

namespace hycoll {

TreePlace place_in_chain(int number, int count) {
  TreePlace place{.parent = number - 1, .children = {}};
  if (number + 1 < count) place.children.push_back(number + 1);
  return place;
}

TreePlace place_in_knomial_tree(int number, int count, int radix) {
  TreePlace place;
  int weight = 1;  // of the digit that the children differ in, at last of the parent's
  while (weight < count && number / weight % radix == 0) weight *= radix;
  if (number > 0) place.parent = number - number / weight % radix * weight;
  for (weight /= radix; weight > 0; weight /= radix) {
    for (int digit = radix - 1; digit > 0; --digit) {
      const int child = number + digit * weight;
      if (child < count) place.children.push_back(child);
    }
  }
  return place;
}

TreePlace place_in_star(int number, int count) {
  return place_in_knomial_tree(number, count, std::max(count, 2));
}

TreePlace renamed(TreePlace place, const std::function<int(int)>& name) {
  if (place.parent >= 0) place.parent = name(place.parent);
  for (int& child : place.children) child = name(child);
  return place;
}

int binomial_subtree_size(int number, int count) {
  return number == 0 ? count : std::min(number & -number, count - number);
}

}  // namespace hycoll
