#include "collectives/plans/typical_nodes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/schedule/parts.h"
#include "core/schedule/staging.h"
#include "threading/program/program_limits.h"
#include "threading/program/staging_slices.h"
#include "tools/command/proving/sweep.h"

namespace hycoll {
namespace {

/// What a node needs of all that has to be known alike on all nodes; more of anything is more.
struct Needs {
  int tags = 0;
  int flags = 0;          // of one worker
  int lines = 0;          // buffers of one worker
  int operands = 0;       // of one step
  int signals = 0;        // on one flag
  int longest_lines = 0;  // chunks
  int several_blocks = 0;
  int staging_or_stream = 0;
  int blocking_refused = 0;
  int crossing = 0;
  std::size_t staging_bytes = 0;

  void add(const Needs& other) {
    tags = std::max(tags, other.tags);
    flags = std::max(flags, other.flags);
    lines = std::max(lines, other.lines);
    operands = std::max(operands, other.operands);
    signals = std::max(signals, other.signals);
    longest_lines = std::max(longest_lines, other.longest_lines);
    several_blocks = std::max(several_blocks, other.several_blocks);
    staging_or_stream = std::max(staging_or_stream, other.staging_or_stream);
    blocking_refused = std::max(blocking_refused, other.blocking_refused);
    crossing = std::max(crossing, other.crossing);
    staging_bytes = std::max(staging_bytes, other.staging_bytes);
  }
  friend bool operator==(const Needs&, const Needs&) = default;
};

void add_buffers(const Schedule& part, Needs& needs) {
  std::vector<int> lines(static_cast<std::size_t>(part.part.workers.count), 0);
  for (const Buffer& buffer : part.buffers) {
    if (buffer.role == BufferRole::staging || buffer.role == BufferRole::stream) {
      needs.staging_or_stream = 1;
    }
    if (buffer.role != BufferRole::lines) continue;
    int& own = lines[static_cast<std::size_t>(buffer.owner - part.part.workers.first)];
    needs.lines = std::max(needs.lines, ++own);
    needs.longest_lines = std::max(needs.longest_lines, buffer.chunk_count);
  }
}

void add_flags(const Schedule& part, Needs& needs) {
  const std::vector<bool> is_arrival = arrival_flags(part);
  std::vector<int> flags(static_cast<std::size_t>(part.part.workers.count), 0);
  for (std::size_t f = 0; f < part.flags.size(); ++f) {
    if (is_arrival[f]) continue;
    const auto writer = static_cast<std::size_t>(part.flags[f].writer_strand);
    int& own =
        flags[static_cast<std::size_t>(part.strands[writer].worker - part.part.workers.first)];
    needs.flags = std::max(needs.flags, ++own);
  }
}

Needs needs_of(const Schedule& part) {
  Needs needs;
  add_buffers(part, needs);
  add_flags(part, needs);
  for (const Strand& strand : part.strands) {
    for (const Step& step : strand.steps) {
      needs.operands = std::max({needs.operands, step.destination_count, step.source_count});
      if (is_asynchronous(step.kind)) needs.tags = std::max(needs.tags, step.tag + 1);
      if (step.kind == StepKind::signal) needs.signals = std::max(needs.signals, step.value);
      const bool has_data = step.destination_count + step.source_count > 0;
      if (has_data && has_blocks(part.collective) && touches_several_blocks(part, step)) {
        needs.several_blocks = 1;
      }
    }
  }
  needs.blocking_refused = natives_may_block(part) ? 0 : 1;
  needs.crossing = crosses_processes(part, {}) ? 1 : 0;
  needs.staging_bytes = staging_bytes(staged_throughout(part, {}), {.count = 4096}, 4);
  return needs;
}

Needs most_of(const Schedule& whole, std::span<const int> nodes) {
  Needs most;
  for (const int node : nodes) most.add(needs_of(restricted_to(whole, only_node(node))));
  return most;
}

TEST_CASE("some typical node needs as much of anything as any node") {
  const std::vector<command::SweepCase> cases =
      command::sweep_cases({.node_counts = {2, 3, 4, 5, 6, 7, 9, 13, 16},
                            .member_counts = {1, 2, 4},
                            .lane_counts = {1, 2, 3},
                            .visibility = Visibility::direct});
  std::size_t proved = 0;
  for (const command::SweepCase& proof : cases) {
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
  CHECK(proved > 1000);
}

TEST_CASE("of equal nodes a few stand for all, of unequal ones each run") {
  CHECK(typical_nodes(Shape::uniform(1, 4, 2), 0) == std::vector{0});
  CHECK(typical_nodes(Shape::uniform(1000, 4, 2), 0) == std::vector{0, 1, 999});
  CHECK(typical_nodes(Shape::uniform(1000, 4, 2), 402) == std::vector{0, 1, 100, 999});
  CHECK(typical_nodes(Shape({{2, 2}, {2, 2}, {2, 2}, {1, 2}}, 1), 0) == std::vector{0, 1, 2, 3});
}

}  // namespace
}  // namespace hycoll
