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
#include <cstddef>

#include "collectives/algorithms/torus/torus.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

std::size_t index(int dimension) { return static_cast<std::size_t>(dimension); }

}  // namespace

EdgeDisjointTrees::EdgeDisjointTrees(const TorusDimensions& torus, int root) : root_(root) {
  HYCOLL_ASSERT(root >= 0 && root < torus.node_count(), "the root is a node of the torus");
  int stride = 1;
  for (const int length : torus.length) {
    if (length > 1) dimensions_.push_back({.length = length, .stride = stride});
    stride *= length;
  }
}

int EdgeDisjointTrees::count() const noexcept {
  return has_two_links_each() ? 2 * dimension_count() : dimension_count();
}

TreePlace EdgeDisjointTrees::place(int tree, int node) const {
  const bool is_upwards = tree < dimension_count();
  const Colour colour{.dimension = is_upwards ? tree : tree - dimension_count(),
                      .step = is_upwards ? 1 : -1};
  return {.parent = parent(node, colour), .children = children(node, colour)};
}

bool EdgeDisjointTrees::has_two_links_each() const {
  return std::ranges::all_of(dimensions_,
                             [](const Dimension& dimension) { return dimension.length > 2; });
}

bool EdgeDisjointTrees::differs(int node, int dimension) const {
  const auto [length, stride] = dimensions_[index(dimension)];
  return node / stride % length != root_ / stride % length;
}

/// The dimension of the link by which a node, not the root, receives a colour.
int EdgeDisjointTrees::last_dimension(int node, int own_dimension) const {
  std::vector<int> differing;
  for (int dimension = 0; dimension < dimension_count(); ++dimension) {
    if (differs(node, dimension)) differing.push_back(dimension);
  }
  if (differing.size() == 3) return (own_dimension + 2) % 3;
  if (differing.size() == 1 || !differs(node, own_dimension)) return own_dimension;
  return differing.front() == own_dimension ? differing.back() : differing.front();
}

int EdgeDisjointTrees::neighbour(int node, int dimension, int step) const {
  const auto [length, stride] = dimensions_[index(dimension)];
  const int here = node / stride % length;
  return node + ((here + step + length) % length - here) * stride;
}

int EdgeDisjointTrees::parent(int node, Colour colour) const {
  if (node == root_) return -1;
  return neighbour(node, last_dimension(node, colour.dimension), -colour.step);
}

/// On the root's line the longest way down goes on along the line, then along the next dimension.
/// Elsewhere the colour's own dimension closes a line, to a node with nobody below it.
std::vector<int> EdgeDisjointTrees::children(int node, Colour colour) const {
  bool is_on_line = true;
  for (int dimension = 0; dimension < dimension_count(); ++dimension) {
    if (dimension != colour.dimension && differs(node, dimension)) is_on_line = false;
  }
  const int first = colour.dimension + (is_on_line ? 0 : 1);
  std::vector<int> children;
  for (int turn = 0; turn < dimension_count(); ++turn) {
    const int dimension = (first + turn) % dimension_count();
    const int child = neighbour(node, dimension, colour.step);
    if (parent(child, colour) == node) children.push_back(child);
  }
  return children;
}

}  // namespace hycoll
