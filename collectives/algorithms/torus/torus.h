#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_TORUS_TORUS_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_TORUS_TORUS_H_

#include <array>
#include <cstddef>
#include <vector>

#include "collectives/algorithms/building_blocks/trees.h"

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

/// Rings through all nodes of a torus, no two of which use the same link: as many as a node has
/// pairs of links. That is three where all dimensions are three or more; two where two dimensions
/// are three or more, or where one is and the others are two; otherwise one. Where nodes have fewer
/// than two links (one or two nodes) the only ring is the nodes in order. Nothing is kept by node:
/// what comes next is computed from the node's coordinates. See torus_rings.cc.
class TorusRings {
 public:
  explicit TorusRings(const TorusDimensions& torus);

  int count() const noexcept;

  /// The node to which a ring leads from this one, and that from which it comes.
  int next(int ring, int node) const;
  int previous(int ring, int node) const;

 private:
  /// A dimension of three or more, or two of two nodes; `strides` of the nodes' numbers.
  struct Circle {
    int length;
    std::array<int, 2> strides;
  };
  struct Step {
    std::size_t circle;
    int by;
    friend bool operator==(const Step&, const Step&) = default;
  };
  /// Where a ring passes from the first layer to the second one, and back.
  struct Turn {
    int from;
    int to;
  };

  bool is_in_second_layer(int node) const;
  int place(const Circle& circle, int node) const;
  int moved(const Circle& circle, int node, int step) const;
  Step step(int ring, int node) const;
  int next_in_layer(int ring, int node) const;
  int previous_in_layer(int ring, int node) const;

  std::vector<Circle> circles_;  // odd ones first
  int layer_stride_ = 0;         // 0: there are no layers
  std::vector<Turn> turns_;      // by ring, between layers
};

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

/// Rings for lanes on some nodes: those of torus_dimensions(node_count), each starting at another
/// node. Lanes beyond the disjoint rings use them again, every second time the other way round.
class LaneRings {
 public:
  LaneRings(int node_count, int lane_count)
      : node_count_(node_count), lane_count_(lane_count), rings_(torus_dimensions(node_count)) {}

  /// Where a lane's ring starts.
  int first(int lane) const;
  int next(int lane, int node) const;
  int previous(int lane, int node) const;

 private:
  int ring(int lane) const { return lane % rings_.count(); }
  bool is_reversed(int lane) const { return lane / rings_.count() % 2 == 1; }

  int node_count_;
  int lane_count_;
  TorusRings rings_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_TORUS_TORUS_H_
