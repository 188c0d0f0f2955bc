#include "collectives/algorithms/torus/torus.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/sanitized.h"

namespace hycoll {
namespace torus_test {

/// A link by its two ends, the lower one first.
struct Link {
  int low;
  int high;
  friend auto operator<=>(const Link&, const Link&) = default;
};

/// Nodes in the order of a ring, from one on until it comes again, or there are more than all.
template <class Next>
std::vector<int> ring_from(int first, int node_count, const Next& next) {
  std::vector<int> ring = {first};
  for (int node = next(first); node != first && std::cmp_less_equal(ring.size(), node_count);
       node = next(node)) {
    ring.push_back(node);
  }
  return ring;
}

/// The links of a ring, the closing one included.
std::vector<Link> links_of(const std::vector<int>& ring) {
  std::vector<Link> links;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const int a = ring[i];
    const int b = ring[(i + 1) % ring.size()];
    links.push_back({std::min(a, b), std::max(a, b)});
  }
  return links;
}

bool visits_all(std::vector<int> ring, int node_count) {
  std::ranges::sort(ring);
  std::vector<int> all(static_cast<std::size_t>(node_count));
  std::iota(all.begin(), all.end(), 0);
  return ring == all;
}

/// Whether two nodes are neighbours: their coordinates differ in one dimension, by one or around.
bool is_link(const TorusDimensions& torus, const Link& link) {
  int a = link.low;
  int b = link.high;
  int differing = 0;
  bool adjacent = true;
  for (const int length : torus.length) {
    const int distance = std::abs(a % length - b % length);
    differing += distance == 0 ? 0 : 1;
    adjacent = adjacent && (distance <= 1 || distance == length - 1);
    a /= length;
    b /= length;
  }
  return differing == 1 && adjacent;
}

std::size_t expected_ring_count(const TorusDimensions& torus) {
  int links_of_node = 0;
  for (const int length : torus.length) links_of_node += std::min(length - 1, 2);
  return static_cast<std::size_t>(std::max(1, links_of_node / 2));
}

void check_rings(const TorusDimensions& torus) {
  CAPTURE(torus.length);
  const int node_count = torus.node_count();
  const TorusRings rings(torus);
  REQUIRE(std::cmp_equal(rings.count(), expected_ring_count(torus)));
  std::vector<Link> used;
  for (int number = 0; number < rings.count(); ++number) {
    const auto ring = ring_from(0, node_count, [&](int node) { return rings.next(number, node); });
    REQUIRE(visits_all(ring, node_count));
    REQUIRE(std::ranges::all_of(
        ring, [&](int node) { return rings.previous(number, rings.next(number, node)) == node; }));
    if (node_count <= 2) continue;  // a ring needs three nodes
    std::ranges::copy(links_of(ring), std::back_inserter(used));
  }
  REQUIRE(std::ranges::all_of(used, [&](const Link& link) { return is_link(torus, link); }));
  std::ranges::sort(used);
  REQUIRE(std::ranges::adjacent_find(used) == used.end());
}

TEST_CASE("the rings of every small torus visit all nodes and share no link") {
  for (int x = 1; x <= 13; ++x) {
    for (int y = 1; y <= 13; ++y) {
      for (int z = 1; z <= 13; ++z) check_rings({{x, y, z}});
    }
  }
  for (int x = 1; x <= 30; ++x) {
    for (int y = 1; y <= 30; ++y) check_rings({{x, y, 1}});
  }
}

TEST_CASE("so do those of the tori of all numbers of nodes, and of long ones") {
  for (int nodes = 1; nodes <= (tests::kIsSanitized ? 300 : 2500); ++nodes)
    check_rings(torus_dimensions(nodes));
  for (const int nodes : {4096, 10'240, 16'384, 65'536, 65'537}) {
    check_rings(torus_dimensions(nodes));
  }
  for (const TorusDimensions& torus :
       {TorusDimensions{{101, 3, 3}}, {{4, 100, 3}}, {{51, 4, 4}}, {{3, 51, 52}}, {{50, 40, 30}}}) {
    check_rings(torus);
  }
}

TEST_CASE("a torus is as near to a cube as the number of nodes allows") {
  CHECK(torus_dimensions(1).length == std::array{1, 1, 1});
  CHECK(torus_dimensions(7).length == std::array{7, 1, 1});
  CHECK(torus_dimensions(8).length == std::array{2, 2, 2});
  CHECK(torus_dimensions(12).length == std::array{3, 2, 2});
  CHECK(torus_dimensions(16).length == std::array{4, 2, 2});
  CHECK(torus_dimensions(27).length == std::array{3, 3, 3});
  CHECK(torus_dimensions(64).length == std::array{4, 4, 4});
  CHECK(torus_dimensions(35).length == std::array{7, 5, 1});
  for (int nodes = 1; nodes <= 300; ++nodes) {
    const TorusDimensions torus = torus_dimensions(nodes);
    CHECK(torus.node_count() == nodes);
    CHECK(std::is_sorted(torus.length.rbegin(), torus.length.rend()));
  }
}

TEST_CASE("every lane has a ring through all nodes, and lanes start at different nodes") {
  for (int nodes = 1; nodes <= 30; ++nodes) {
    for (int lanes = 1; lanes <= 9; ++lanes) {
      CAPTURE(nodes);
      CAPTURE(lanes);
      const LaneRings rings(nodes, lanes);
      std::set<int> firsts;
      for (int lane = 0; lane < lanes; ++lane) {
        const int first = rings.first(lane);
        firsts.insert(first);
        const auto ring = ring_from(first, nodes, [&](int node) { return rings.next(lane, node); });
        CHECK(visits_all(ring, nodes));
        CHECK(rings.previous(lane, first) == ring.back());
      }
      CHECK(std::cmp_equal(firsts.size(), std::min(lanes, nodes)));
    }
  }
  REQUIRE(TorusRings(torus_dimensions(27)).count() == 3);
  const LaneRings rings(27, 4);
  std::set<Link> used;
  for (int lane = 0; lane < 3; ++lane) {
    const auto ring = ring_from(0, 27, [&](int node) { return rings.next(lane, node); });
    for (const Link& link : links_of(ring)) CHECK(used.insert(link).second);
  }
  for (int node = 0; node < 27; ++node) CHECK(rings.next(3, node) == rings.previous(0, node));
}

/// A link in one direction.
struct DirectedLink {
  int from;
  int to;
  friend auto operator<=>(const DirectedLink&, const DirectedLink&) = default;
};

/// The places in one tree, by node.
using Places = std::vector<TreePlace>;

Places places_in(const EdgeDisjointTrees& trees, int tree, int node_count) {
  Places places;
  for (int node = 0; node < node_count; ++node) places.push_back(trees.place(tree, node));
  return places;
}

int parent_of(const Places& places, int node) {
  return places[static_cast<std::size_t>(node)].parent;
}

/// The links from the root to a node; more than there are nodes if they lead in a circle.
int depth_of(const Places& places, int node) {
  int depth = 0;
  const auto node_count = static_cast<int>(places.size());
  for (; parent_of(places, node) >= 0 && depth <= node_count; ++depth) {
    node = parent_of(places, node);
  }
  return depth;
}

/// The links on the longest way down from every node.
std::vector<int> heights_in(const Places& places) {
  std::vector<int> heights(places.size(), 0);
  for (int start = 0; start < static_cast<int>(places.size()); ++start) {
    int height = 0;
    for (int node = parent_of(places, start); node >= 0; node = parent_of(places, node)) {
      int& known = heights[static_cast<std::size_t>(node)];
      known = std::max(known, ++height);
    }
  }
  return heights;
}

/// Everybody but the root is a child of its parent, and those with the longest way below them come
/// first.
void check_children(const Places& places) {
  const std::vector<int> heights = heights_in(places);
  std::size_t count = 0;
  for (int node = 0; node < static_cast<int>(places.size()); ++node) {
    const std::vector<int>& children = places[static_cast<std::size_t>(node)].children;
    for (const int child : children) REQUIRE(parent_of(places, child) == node);
    REQUIRE(std::set(children.begin(), children.end()).size() == children.size());
    REQUIRE(std::ranges::is_sorted(children, std::ranges::greater(), [&](int child) {
      return heights[static_cast<std::size_t>(child)];
    }));
    count += children.size();
  }
  REQUIRE(count + 1 == places.size());
}

int expected_tree_count(const TorusDimensions& torus) {
  int links = 0;
  int dimensions = 0;
  for (const int length : torus.length) {
    links += std::min(length - 1, 2);
    dimensions += length > 1;
  }
  return links == 2 * dimensions ? links : dimensions;
}

void check_trees(const TorusDimensions& torus, int root) {
  CAPTURE(torus.length);
  CAPTURE(root);
  const EdgeDisjointTrees trees(torus, root);
  REQUIRE(trees.count() == expected_tree_count(torus));
  const bool has_double_links =
      std::ranges::all_of(torus.length, [](int length) { return length != 2; });
  int greatest_depth = 1;
  int dimensions = 0;
  for (const int length : torus.length) {
    greatest_depth += length - 1;
    dimensions += length > 1;
  }
  std::set<DirectedLink> used;
  std::set<Link> used_upwards;
  for (int colour = 0; colour < trees.count(); ++colour) {
    const Places places = places_in(trees, colour, torus.node_count());
    check_children(places);
    for (int node = 0; node < torus.node_count(); ++node) {
      const int parent = parent_of(places, node);
      REQUIRE((parent < 0) == (node == root));
      REQUIRE(depth_of(places, node) <= greatest_depth);
      if (node == root) continue;
      const Link link{std::min(node, parent), std::max(node, parent)};
      REQUIRE(is_link(torus, link));
      REQUIRE(used.insert({parent, node}).second);
      if (has_double_links && colour < dimensions) REQUIRE(used_upwards.insert(link).second);
    }
  }
}

TEST_CASE("the trees of every small torus reach all nodes from any root and share no link") {
  for (int x = 1; x <= 5; ++x) {
    for (int y = 1; y <= 5; ++y) {
      for (int z = 1; z <= 5; ++z) {
        const TorusDimensions torus{{x, y, z}};
        for (int root = 0; root < torus.node_count(); ++root) check_trees(torus, root);
      }
    }
  }
  for (const TorusDimensions& torus : {TorusDimensions{{11, 7, 5}}, {{32, 32, 1}}, {{9, 2, 7}}}) {
    for (const int root : {0, 17, torus.node_count() - 1}) check_trees(torus, root);
  }
}

TEST_CASE("there are six trees in three dimensions, four in two, half as many with pairs") {
  CHECK(EdgeDisjointTrees({{3, 4, 5}}, 7).count() == 6);
  CHECK(EdgeDisjointTrees({{3, 2, 5}}, 7).count() == 3);
  CHECK(EdgeDisjointTrees({{2, 2, 2}}, 7).count() == 3);
  CHECK(EdgeDisjointTrees({{4, 3, 1}}, 7).count() == 4);
  CHECK(EdgeDisjointTrees({{4, 2, 1}}, 7).count() == 2);
  CHECK(EdgeDisjointTrees({{9, 1, 1}}, 7).count() == 2);
  CHECK(EdgeDisjointTrees({{2, 1, 1}}, 1).count() == 1);
  CHECK(EdgeDisjointTrees({{1, 1, 1}}, 0).count() == 0);
}

}  // namespace torus_test
}  // namespace hycoll
