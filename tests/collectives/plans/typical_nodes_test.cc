#include "collectives/plans/typical_nodes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/schedule/part_checks.h"
#include "core/staging/staging.h"
#include "tests/support/sanitized.h"
#include "threading/program/program_needs.h"
#include "threading/program/staging_slices.h"
#include "tools/command/proving/sweep.h"

namespace hycoll {
namespace {

/// What has to be known alike on all nodes; more of anything is more. But for the signals on one
/// flag, of which the executor takes as many as fit the memory.
struct Needs {
  ProgramNeeds direct;
  ProgramNeeds staged;
  bool crosses = false;
  std::size_t staging_bytes = 0;

  void add(const Needs& other) {
    direct.add(other.direct);
    staged.add(other.staged);
    crosses |= other.crosses;
    staging_bytes = std::max(staging_bytes, other.staging_bytes);
  }
  friend bool operator==(const Needs&, const Needs&) = default;
};

Needs needs_of_part(const Schedule& part) {
  const Schedule through_staging = staged_throughout(part, {});
  const auto but_signals = [](ProgramNeeds needs) {
    needs.signals = 0;
    return needs;
  };
  return {.direct = but_signals(needs_of(part)),
          .staged = but_signals(needs_of(through_staging)),
          .crosses = crosses_processes(part, {}),
          .staging_bytes = staging_bytes(through_staging, {.count = 4096}, 4)};
}

Needs most_of(const Schedule& whole, std::span<const int> nodes) {
  Needs most;
  for (const int node : nodes) most.add(needs_of_part(restricted_to(whole, only_node(node))));
  return most;
}

std::vector<command::SweepCase> sweep() {
  return command::sweep_cases({.node_counts = {2, 3, 4, 5, 6, 7, 9, 13, 16},
                               .member_counts = {1, 2, 4},
                               .lane_counts = {1, 2, 3},
                               .visibility = Visibility::direct});
}

TEST_CASE("some typical node needs as much of anything as any node") {
  std::size_t proved = 0;
  tests::Sample sample;
  for (const command::SweepCase& proof : sweep()) {
    if (!sample.takes_next()) continue;
    const Schedule whole = proof.generate();
    std::vector<int> all;
    for (const int node : whole.part.nodes) all.push_back(node);
    const bool holds =
        most_of(whole, typical_nodes(proof.shape, proof.root)) == most_of(whole, all);
    CAPTURE(whole.algorithm);
    CAPTURE(proof.shape.node_count());
    CAPTURE(proof.shape.member_count());
    CAPTURE(proof.shape.lane_count());
    CAPTURE(proof.root);
    CHECK(holds);
    ++proved;
  }
  CHECK(proved > 500);
}

/// As PlanParts::own_key() relies on.
TEST_CASE("which member of a node the root is only its own node sees") {
  std::size_t compared = 0;
  tests::Sample sample;
  for (const command::SweepCase& proof : sweep()) {
    if (!has_root(proof.algorithm->collective) || !sample.takes_next()) continue;
    const int root_node = proof.shape.node_of_member(proof.root);
    const int first = proof.shape.first_member(root_node);
    CAPTURE(proof.algorithm->name);
    CAPTURE(proof.shape.node_count());
    CAPTURE(proof.shape.lane_count());
    CAPTURE(first);
    for (int root = first; root < first + proof.shape.node(root_node).members; ++root) {
      if (root == proof.root) continue;
      for (int node = 0; node < proof.shape.node_count(); ++node) {
        if (node == root_node) continue;
        Schedule other =
            proof.algorithm->generate(proof.shape, proof.segments, root, only_node(node));
        other.root = proof.root;
        CHECK(other == proof.generate(only_node(node)));
        ++compared;
      }
    }
  }
  CHECK(compared > 500);
}

TEST_CASE("of equal nodes a few stand for all, of unequal ones each run") {
  CHECK(typical_nodes(Shape::uniform(1, 4, 2), 0) == std::vector{0});
  CHECK(typical_nodes(Shape::uniform(1000, 4, 2), 0) == std::vector{0, 1, 3, 999});
  CHECK(typical_nodes(Shape::uniform(1000, 4, 2), 402) == std::vector{0, 1, 100, 101, 103, 999});
  CHECK(typical_nodes(Shape({{2, 2}, {2, 2}, {2, 2}, {1, 2}}, 1), 0) == std::vector{0, 1, 2, 3});
}

}  // namespace
}  // namespace hycoll
