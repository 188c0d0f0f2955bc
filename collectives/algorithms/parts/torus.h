#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_TORUS_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_TORUS_H_

#include <array>
#include <vector>

#include "collectives/algorithms/parts/trees.h"

namespace hycoll {

/// The lengths of a torus. Node (x, y, z) has the number x + length[0] * (y + length[1] * z), and a
/// link to the next and to the previous node in every dimension: two links in a dimension of three
/// or more, one in a dimension of two, where both neighbours are the same, none in one of one.
struct TorusDimensions {
  std::array<int, 3> length = {1, 1, 1};

  int node_count() const noexcept { return length[0] * length[1] * length[2]; }
  friend bool operator==(const TorusDimensions&, const TorusDimensions&) = default;
};

/// The torus of `node_count` nodes that is as near to a cube as possible (the least sum of the
/// lengths), the longest dimension first. A prime number of nodes is a single ring. Requires
/// node_count >= 1.
TorusDimensions torus_dimensions(int node_count);

/// Nodes in the order of a ring: each one is linked to the next, and the last one to the first.
using Ring = std::vector<int>;

/// Rings through all nodes of a torus, no two of which use the same link: as many as a node has
/// pairs of links. That is three where all dimensions are three or more; two where two dimensions
/// are three or more, or where one is and the others are two; otherwise one. Where nodes have fewer
/// than two links (one or two nodes) the only ring is the nodes in order.
///
/// The links of the dimensions form rings already, disjoint but short (two dimensions of two make
/// one of four nodes). Two rings of a kind become one wherever four nodes make a square of two
/// kinds of links, opposite sides alike: the sides change hands. A kind that is still in several
/// rings after many tries is left out; tests/collectives/algorithms/torus_test.cc shows that this
/// does not happen up to 6 x 6 x 6 and 8 x 8. Deterministic: the same rings on every node.
///
/// Source: that three dimensions have three such rings is a theorem of M. F. Foregger, Hamiltonian
/// decompositions of products of cycles, Discrete Mathematics 24, 1978; the search is this
/// project's.
std::vector<Ring> edge_disjoint_rings(const TorusDimensions& torus);

/// Trees through all nodes of a torus from one root, no two of which use the same link in the same
/// direction: one for each link of a node where all dimensions of two or more are three or more (6
/// in three dimensions), otherwise one for each of those dimensions (3, 2 or 1). The first half of
/// the trees, or all of these fewer ones, go in the direction of increasing numbers only: where all
/// lengths are three or more, these use no link twice in either direction. No tree is deeper than
/// the sum of (length - 1) over the dimensions, and one. A single node has no trees. Nothing is
/// kept by node: a place is computed from the node's coordinates. See torus_trees.cc.
class EdgeDisjointTrees {
 public:
  /// Requires a root that is a node of the torus.
  EdgeDisjointTrees(const TorusDimensions& torus, int root);

  int count() const noexcept;

  /// Where a node stands in one of the trees.
  TreePlace place(int tree, int node) const;

 private:
  struct Dimension {
    int length;
    int stride;
  };
  /// A tree begins along its own dimension, and always goes up (1) or down (-1).
  struct Colour {
    int dimension;
    int step;
  };

  int dimension_count() const noexcept { return static_cast<int>(dimensions_.size()); }
  bool has_two_links_each() const;
  bool differs(int node, int dimension) const;
  int last_dimension(int node, int own_dimension) const;
  int neighbour(int node, int dimension, int step) const;
  int parent(int node, Colour colour) const;
  std::vector<int> children(int node, Colour colour) const;

  int root_;
  std::vector<Dimension> dimensions_;  // of two nodes or more
};

/// Rings for `lane_count` lanes on `node_count` nodes: those of torus_dimensions(node_count), each
/// starting at another node. Lanes beyond the disjoint rings use them again, every second time the
/// other way round.
std::vector<Ring> rings_for_lanes(int node_count, int lane_count);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_PARTS_TORUS_H_
