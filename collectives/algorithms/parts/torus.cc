#include "collectives/algorithms/parts/torus.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <random>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {
namespace {

constexpr int kDimensions = 3;
constexpr int kNoKind = -1;

/// The links of a torus. Link (node, dimension) leads from the node to the next one.
class Links {
 public:
  explicit Links(const TorusDimensions& torus) : length_(torus.length) {}

  int node_count() const { return length_[0] * length_[1] * length_[2]; }
  int length(int dimension) const { return length_[index(dimension)]; }
  int next(int node, int dimension) const { return shifted(node, dimension, 1); }
  int previous(int node, int dimension) const {
    return shifted(node, dimension, length(dimension) - 1);
  }

  /// The number of the link from a node to the next: of two parallel links only one exists.
  std::size_t link(int node, int dimension) const {
    const bool is_second_of_two = length(dimension) == 2 && coordinate(node, dimension) == 1;
    const int from = is_second_of_two ? next(node, dimension) : node;
    return static_cast<std::size_t>(from) * kDimensions + index(dimension);
  }

 private:
  static std::size_t index(int dimension) { return static_cast<std::size_t>(dimension); }
  int stride(int dimension) const {
    return std::accumulate(length_.begin(), length_.begin() + dimension, 1, std::multiplies<>());
  }
  int coordinate(int node, int dimension) const {
    return node / stride(dimension) % length(dimension);
  }
  int shifted(int node, int dimension, int by) const {
    const int here = coordinate(node, dimension);
    return node + ((here + by) % length(dimension) - here) * stride(dimension);
  }

  std::array<int, kDimensions> length_;
};

/// Gives links kinds such that every node has two links of each kind: each kind is a set of rings.
class RingSearch {
 public:
  explicit RingSearch(const TorusDimensions& torus)
      : links_(torus),
        kinds_(static_cast<std::size_t>(links_.node_count()) * kDimensions, kNoKind) {
    std::vector<int> twos;
    for (int dimension = 0; dimension < kDimensions; ++dimension) {
      if (links_.length(dimension) >= 3) add_kind({dimension});
      if (links_.length(dimension) == 2) twos.push_back(dimension);
    }
    // Two dimensions of two are rings of four nodes. A third one stays without a kind.
    if (twos.size() >= 2) add_kind({twos[0], twos[1]});
  }

  /// Joins rings until there is one of each kind.
  void join() {
    for (int failures = 0; failures < kMaximumFailures && !is_done();) {
      bool joined = false;
      for_each_square([&](const Square& square) { joined = exchange(square, -1) || joined; });
      if (joined) continue;
      ++failures;
      shake();
    }
  }

  std::vector<Ring> rings() const {
    std::vector<Ring> rings;
    for (std::size_t kind = 0; kind < ring_counts_.size(); ++kind) {
      if (ring_counts_[kind] != 1) continue;
      walk(static_cast<int>(kind), 0,
           [&, &ring = rings.emplace_back()](int node) { ring.push_back(node); });
    }
    return rings;
  }

 private:
  static constexpr int kMaximumFailures = 1000;
  static constexpr std::size_t kNoLink = SIZE_MAX;

  /// Two links of one kind between four nodes, opposite to each other in a square.
  struct Sides {
    std::array<std::size_t, 2> links;
    std::array<int, 2> from;
    std::array<int, 2> to;
  };
  struct Square {
    Sides sides;
    Sides across;
  };
  /// Where a node lies on its ring of one kind.
  struct Place {
    int ring;
    int position;
  };

  void add_kind(std::initializer_list<int> dimensions) {
    const auto kind = static_cast<int>(ring_counts_.size());
    for (const int dimension : dimensions) {
      for (int node = 0; node < links_.node_count(); ++node) {
        kinds_[links_.link(node, dimension)] = kind;
      }
    }
    ring_counts_.push_back(0);
    places_.emplace_back(static_cast<std::size_t>(links_.node_count()), Place{-1, 0});
    for (int node = 0; node < links_.node_count(); ++node) {
      if (place(kind, node).ring >= 0) continue;
      number_ring(kind, node);
      ++ring_counts_.back();
    }
  }

  bool is_done() const {
    return std::all_of(ring_counts_.begin(), ring_counts_.end(),
                       [](int count) { return count == 1; });
  }

  template <class Visit>
  void for_each_square(const Visit& visit) const {
    for (int node = 0; node < links_.node_count(); ++node) {
      for (int a = 0; a < kDimensions; ++a) {
        for (int b = a + 1; b < kDimensions; ++b) {
          if (links_.length(a) >= 2 && links_.length(b) >= 2) visit(square(node, a, b));
        }
      }
    }
  }

  Square square(int node, int a, int b) const {
    const int next_a = links_.next(node, a);
    const int next_b = links_.next(node, b);
    const int opposite = links_.next(next_a, b);
    return {.sides = {.links = {links_.link(node, a), links_.link(next_b, a)},
                      .from = {node, next_b},
                      .to = {next_a, opposite}},
            .across = {.links = {links_.link(node, b), links_.link(next_a, b)},
                       .from = {node, next_a},
                       .to = {next_b, opposite}}};
  }

  /// Lets the sides of a square change hands if that changes the number of rings by at most
  /// `most`.
  bool exchange(const Square& square, int most) {
    const auto& [sides, across] = square;
    const int kind = kinds_[sides.links[0]];
    const int other = kinds_[across.links[0]];
    const bool fits =
        kind != other && kinds_[sides.links[1]] == kind && kinds_[across.links[1]] == other;
    if (!fits) return false;
    const int change = rings_made_by_losing(kind, sides);
    const int other_change = rings_made_by_losing(other, across);
    if (change + other_change > most) return false;
    for (const std::size_t link : sides.links) kinds_[link] = other;
    for (const std::size_t link : across.links) kinds_[link] = kind;
    renumber(kind, sides, change);
    renumber(other, across, other_change);
    return true;
  }

  /// How many rings more there are of a kind that loses two opposite sides of a square for the two
  /// across: two rings become one, or one ring is cut in two pieces, which are joined to one ring
  /// again where both sides are passed in the same direction, and close by themselves otherwise.
  int rings_made_by_losing(int kind, const Sides& sides) const {
    if (kind == kNoKind) return 0;
    if (place(kind, sides.from[0]).ring != place(kind, sides.from[1]).ring) return -1;
    return is_passed_forwards(kind, sides, 0) == is_passed_forwards(kind, sides, 1) ? 0 : 1;
  }

  bool is_passed_forwards(int kind, const Sides& sides, std::size_t side) const {
    const int from = place(kind, sides.from[side]).position;
    const int to = place(kind, sides.to[side]).position;
    return to == from + 1 || (to == 0 && from != 1);
  }

  void renumber(int kind, const Sides& lost, int change) {
    if (kind == kNoKind) return;
    ring_counts_[static_cast<std::size_t>(kind)] += change;
    number_ring(kind, lost.from[0]);
    if (change == 1) number_ring(kind, lost.to[0]);
  }

  void number_ring(int kind, int start) {
    int position = 0;
    walk(kind, start, [&](int node) {
      places_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(node)] = {next_ring_,
                                                                                 position++};
    });
    ++next_ring_;
  }

  const Place& place(int kind, int node) const {
    return places_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(node)];
  }

  /// Changes the rings without making them more, where no single exchange makes them fewer.
  void shake() {
    std::vector<Square> squares;
    for_each_square([&](const Square& square) { squares.push_back(square); });
    for (std::size_t i = 0; i < squares.size(); ++i) {
      exchange(squares[random_() % squares.size()], 0);
    }
  }

  /// Visits the nodes of the ring of a kind that a node is on.
  template <class Visit>
  void walk(int kind, int start, const Visit& visit) const {
    Way way{start, kNoLink};
    do {
      visit(way.node);
      way = follow(kind, way);
    } while (way.node != start);
  }

  /// A node, and the link by which it was reached.
  struct Way {
    int node;
    std::size_t link;
  };

  Way follow(int kind, Way way) const {
    for (int dimension = 0; dimension < kDimensions; ++dimension) {
      if (links_.length(dimension) < 2) continue;
      const int previous = links_.previous(way.node, dimension);
      const Way forwards{links_.next(way.node, dimension), links_.link(way.node, dimension)};
      const Way backwards{previous, links_.link(previous, dimension)};
      for (const Way& on : {forwards, backwards}) {
        if (kinds_[on.link] == kind && on.link != way.link) return on;
      }
    }
    HYCOLL_ASSERT(false, "every node has two links of each kind");
  }

  Links links_;
  std::vector<int> kinds_;                  // by link
  std::vector<int> ring_counts_;            // by kind
  std::vector<std::vector<Place>> places_;  // by kind and node
  int next_ring_ = 0;
  std::minstd_rand random_{1};  // its numbers are the same everywhere
};

}  // namespace

TorusDimensions torus_dimensions(int node_count) {
  HYCOLL_ASSERT(node_count >= 1, "a torus has a node");
  TorusDimensions best{{node_count, 1, 1}};
  const auto sum = [](const TorusDimensions& torus) {
    return torus.length[0] + torus.length[1] + torus.length[2];
  };
  for (int c = 1; c * c * c <= node_count; ++c) {
    if (node_count % c != 0) continue;
    for (int b = c; b * b <= node_count / c; ++b) {
      if (node_count / c % b != 0) continue;
      const TorusDimensions torus{{node_count / c / b, b, c}};
      if (sum(torus) < sum(best)) best = torus;
    }
  }
  return best;
}

std::vector<Ring> edge_disjoint_rings(const TorusDimensions& torus) {
  RingSearch search(torus);
  search.join();
  std::vector<Ring> rings = search.rings();
  if (rings.empty()) {
    rings.emplace_back(static_cast<std::size_t>(torus.node_count()));
    std::iota(rings.back().begin(), rings.back().end(), 0);
  }
  return rings;
}

std::vector<Ring> rings_for_lanes(int node_count, int lane_count) {
  const std::vector<Ring> disjoint = edge_disjoint_rings(torus_dimensions(node_count));
  std::vector<Ring> rings;
  for (int lane = 0; lane < lane_count; ++lane) {
    const auto index = static_cast<std::size_t>(lane);
    Ring ring = disjoint[index % disjoint.size()];
    if (index / disjoint.size() % 2 == 1) std::reverse(ring.begin(), ring.end());
    const auto start = static_cast<std::int64_t>(node_count) * lane / lane_count;
    std::rotate(ring.begin(), ring.begin() + start, ring.end());
    rings.push_back(std::move(ring));
  }
  return rings;
}

}  // namespace hycoll
