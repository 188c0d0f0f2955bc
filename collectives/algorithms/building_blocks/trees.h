#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_TREES_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_TREES_H_

#include <functional>
#include <vector>

namespace hycoll {

/// Where somebody stands in a tree of numbers 0 to count - 1 whose root is 0, or of nodes.
struct TreePlace {
  int parent = -1;            ///< -1: it is the root.
  std::vector<int> children;  ///< Those with the most below them first: the order in which they are
                              ///< sent to, and the opposite of that in which they hand over.
};

/// Everybody's parent is the number before.
TreePlace place_in_chain(int number, int count);

/// The k-nomial tree of a radix: the parent's number has the lowest digit that is not 0 replaced by
/// 0. What lies below a number follows it, without a gap.
TreePlace place_in_knomial_tree(int number, int count, int radix);

inline TreePlace place_in_binomial_tree(int number, int count) {
  return place_in_knomial_tree(number, count, 2);
}

/// Everybody's parent is 0.
TreePlace place_in_star(int number, int count);

/// The place in a tree whose numbers are called otherwise; `name` is asked for each of them.
TreePlace renamed(TreePlace place, const std::function<int(int)>& name);

/// How many numbers the binomial tree has from this one down.
int binomial_subtree_size(int number, int count);
inline int star_subtree_size(int number, int count) { return number == 0 ? count : 1; }

/// All nodes, numbered from a root's on: as in the trees whose root that is.
struct NodesFromRoot {
  int root_node;
  int count;

  int number_of(int node) const { return (node + count - root_node) % count; }
  int node_of(int number) const { return (root_node + number) % count; }
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_TREES_H_
