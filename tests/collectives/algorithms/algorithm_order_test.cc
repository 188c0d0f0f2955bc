// What algorithms declare of the order of their operands (OperandOrder), over a sweep of shapes.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/schedule/schedule_text.h"
#include "core/verifier/verifier.h"
#include "tests/support/sanitized.h"

namespace hycoll {
namespace {

/// Nodes with the same members everywhere, with different numbers of them, and with more workers
/// than members.
std::vector<std::vector<Node>> node_lists(int node_count) {
  std::vector<std::vector<Node>> lists;
  const auto count = static_cast<std::size_t>(node_count);
  for (const Node& node : {Node{1, 1}, Node{1, 3}, Node{2, 2}, Node{3, 3}, Node{3, 4}}) {
    lists.emplace_back(count, node);
  }
  for (const int period : {2, 3}) {
    std::vector<Node> unequal;
    for (int n = 0; n < node_count; ++n) {
      const int members = 1 + (2 * n + 1) % period;
      unequal.push_back({.members = members, .workers = members + n % 2});
    }
    lists.push_back(unequal);
  }
  return lists;
}

/// The shapes of a list of nodes: with every number of lanes, led by the first workers or the last.
std::vector<Shape> shapes_of(const std::vector<Node>& nodes) {
  std::vector<Shape> shapes;
  for (int lanes = 1; lanes <= 4; ++lanes) {
    shapes.emplace_back(nodes, lanes);
    std::vector<int> from_the_last;
    for (int lane = 0; lane < lanes; ++lane) from_the_last.push_back(lanes - lane);
    shapes.emplace_back(nodes, lanes, Visibility::direct, from_the_last);
  }
  return shapes;
}

std::vector<Shape> all_shapes() {
  std::vector<Shape> shapes;
  for (int node_count = 1; node_count <= 9; ++node_count) {
    for (const std::vector<Node>& nodes : node_lists(node_count)) {
      const std::vector<Shape> plain = shapes_of(nodes);
      shapes.insert(shapes.end(), plain.begin(), plain.end());
      if (node_count > 5) continue;
      for (const int aggregators : {1, 3}) {
        std::vector<Node> more = nodes;
        more.insert(more.end(), static_cast<std::size_t>(aggregators), Node{0, 1});
        shapes.emplace_back(more, 1);
        shapes.emplace_back(more, 2);
      }
    }
  }
  return shapes;
}

/// What the tree of a canonical algorithm may depend on: the members of each node that has some,
/// and which member's input a broadcast passes on.
struct TreeKey {
  std::string_view collective;
  std::vector<int> members;
  int source;
  friend auto operator<=>(const TreeKey&, const TreeKey&) = default;
};

TreeKey key_of(const Schedule& schedule) {
  TreeKey key{.collective = schedule.collective.name, .members = {}, .source = 0};
  if (begins_at_root(schedule.collective)) key.source = schedule.root;
  for (int node = 0; node < schedule.shape.node_count(); ++node) {
    const int members = schedule.shape.node(node).members;
    if (members > 0) key.members.push_back(members);
  }
  return key;
}

struct CanonicalTree {
  std::uint64_t digest;
  std::string found_in;
};

/// Checks schedules against what their algorithms declare.
class OrderCheck {
 public:
  void add(const Algorithm& algorithm, const Shape& shape, int segments, int root) {
    const Schedule schedule = algorithm.generate(shape, segments, root);
    const Verdict verdict = verify(schedule);
    const std::string name =
        fmt::format("{} on {}, {} segments", describe_call(schedule), to_text(shape), segments);
    INFO(name);
    REQUIRE_MESSAGE(verdict.correct, verdict.failure);
    ++schedule_count_;
    if (algorithm.order == OperandOrder::any) return;
    CHECK(verdict.rank_ordered);
    if (algorithm.order == OperandOrder::by_rank) return;
    CHECK(verdict.tree_digest != 0);
    const auto [tree, is_new] =
        trees_.insert({key_of(schedule), {.digest = verdict.tree_digest, .found_in = name}});
    INFO("compared with " << tree->second.found_in);
    CHECK(verdict.tree_digest == tree->second.digest);
    if (!is_new) ++comparison_count_;
  }

  int schedule_count() const { return schedule_count_; }
  int comparison_count() const { return comparison_count_; }

 private:
  std::map<TreeKey, CanonicalTree> trees_;
  int schedule_count_ = 0;
  int comparison_count_ = 0;
};

std::vector<int> roots_of(Collective collective, const Shape& shape) {
  if (!has_root(collective)) return {0};
  const int last = shape.member_count() - 1;
  std::vector<int> roots = {0, last / 2, last};
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  return roots;
}

std::vector<int> segment_counts_of(const Algorithm& algorithm) {
  if (algorithm.segmentation == Segmentation::none) return {1};
  return {1, 3};
}

TEST_CASE("algorithms combine operands in the order that they declare") {
  OrderCheck check;
  tests::Sample sample;
  for (const Shape& shape : all_shapes()) {
    for (const Algorithm* algorithm : all_algorithms()) {
      if (!algorithm->serves_shape(shape)) continue;
      for (const int segments : segment_counts_of(*algorithm)) {
        for (const int root : roots_of(algorithm->collective, shape)) {
          if (!sample.takes_next()) continue;
          check.add(*algorithm, shape, segments, root);
        }
      }
    }
  }
  CHECK(check.schedule_count() > 1600);
  CHECK(check.comparison_count() > 650);
}

TEST_CASE("no algorithm depends on segments that it does not declare") {
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->segmentation != Segmentation::none) continue;
    for (const Shape& shape : {Shape::uniform(1, 3, 2), Shape::uniform(3, 2, 2),
                               Shape::uniform(4, 1, 1), Shape({{2, 2}, {1, 2}, {0, 1}}, 1)}) {
      if (!algorithm->serves_shape(shape)) continue;
      INFO(name_of(algorithm->collective) << " " << algorithm->name << " on " << to_text(shape));
      CHECK(to_text(algorithm->generate(shape, 3)) == to_text(algorithm->generate(shape, 1)));
    }
  }
}

}  // namespace
}  // namespace hycoll
