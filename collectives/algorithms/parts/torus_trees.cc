// The rectangle algorithm: spanning trees of a torus that share no link.
//
// Idea: the tree of colour X goes along dimension X from the root, from the nodes of this line
// along the others, and last, over the link that closes a line, to those nodes that lie beside the
// root's line. On the way from dimension to dimension each colour turns another way, so that the
// links by which a node receives its colours are all different. With d dimensions there are d
// colours of links that lead upwards, and d more of those that lead downwards.
//
// Source: A. Mamidala et al., Optimizing MPI Collectives Using Efficient Intra-node Communication
// Techniques over the Blue Gene/P Supercomputer, 2009, section 5.A: the multi-colour rectangle
// algorithm, there in phases of hardware broadcasts along lines. Which dimension closes which line
// is worked out here.
//
// Every node but the root receives each colour by the link of one dimension. Counted from the root,
// with S the dimensions in which the node's coordinate is not 0, and c the colour's own:
//   S has one dimension:    c, along the root's line if S is c, otherwise closing a line.
//   S has two dimensions:   the other one of S if c is in S, otherwise c, closing a line.
//   S has three dimensions: the one before c.
// That is a permutation of the dimensions for every S, so no link is used twice; and every case
// leads to one that is nearer to the root's line c, so there are no circles.
//
// Example, 3 x 3 nodes, root 0. X: 0 to 1 to 2; 1 to 4 to 7 and 2 to 5 to 8; 5 to 3 and 8 to 6,
// around. Y: 0 to 3 to 6; 3 to 4 to 5 and 6 to 7 to 8; 7 to 1 and 8 to 2.

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "collectives/algorithms/parts/torus.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// The dimensions of two nodes or more.
class Rectangle {
 public:
  Rectangle(const TorusDimensions& torus, int root) : root_(root) {
    int stride = 1;
    for (const int length : torus.length) {
      if (length > 1) dimensions_.push_back({.length = length, .stride = stride});
      stride *= length;
    }
  }

  int colour_count() const { return static_cast<int>(dimensions_.size()); }
  bool has_two_links_each() const {
    return std::all_of(dimensions_.begin(), dimensions_.end(),
                       [](const Dimension& dimension) { return dimension.length > 2; });
  }

  /// Whom a node receives a colour from; `step` is 1 upwards, -1 downwards.
  int parent(int node, int colour, int step) const {
    if (node == root_) return -1;
    const Dimension& dimension = dimensions_[index(last_dimension(node, colour))];
    const int here = node / dimension.stride % dimension.length;
    const int before = (here - step + dimension.length) % dimension.length;
    return node + (before - here) * dimension.stride;
  }

 private:
  struct Dimension {
    int length;
    int stride;
  };

  static std::size_t index(int dimension) { return static_cast<std::size_t>(dimension); }

  bool differs(int node, int dimension) const {
    const auto [length, stride] = dimensions_[index(dimension)];
    return node / stride % length != root_ / stride % length;
  }

  int last_dimension(int node, int colour) const {
    std::vector<int> differing;
    for (int dimension = 0; dimension < colour_count(); ++dimension) {
      if (differs(node, dimension)) differing.push_back(dimension);
    }
    if (differing.size() == 3) return (colour + 2) % 3;
    if (differing.size() == 1 || !differs(node, colour)) return colour;
    return differing.front() == colour ? differing.back() : differing.front();
  }

  int root_;
  std::vector<Dimension> dimensions_;
};

}  // namespace

std::vector<SpanningTree> edge_disjoint_trees(const TorusDimensions& torus, int root) {
  HYCOLL_ASSERT(root >= 0 && root < torus.node_count(), "the root is a node of the torus");
  const Rectangle rectangle(torus, root);
  std::vector<SpanningTree> trees;
  for (const int step : {1, -1}) {
    if (step < 0 && !rectangle.has_two_links_each()) break;
    for (int colour = 0; colour < rectangle.colour_count(); ++colour) {
      SpanningTree& tree = trees.emplace_back();
      for (int node = 0; node < torus.node_count(); ++node) {
        tree.push_back(rectangle.parent(node, colour, step));
      }
    }
  }
  return trees;
}

}  // namespace hycoll
