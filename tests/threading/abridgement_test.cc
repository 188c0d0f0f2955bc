// What a process keeps of its node's schedule is enough to bind its own workers' programs.

#include "threading/program/abridgement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/errors.h"
#include "core/schedule/part_checks.h"
#include "core/staging/staging.h"
#include "tests/support/sanitized.h"
#include "threading/program/program.h"
#include "threading/program/program_needs.h"
#include "threading/program/schedule_binding.h"
#include "threading/program/staging_slices.h"

namespace hycoll {
namespace abridgement_test {

constexpr int kSegments = 2;

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  const std::vector<std::vector<Node>> groups = {
      {{2, 2}}, {{5, 5}}, {{3, 5}}, {{1, 1}}, {{4, 4}, {4, 4}}, {{1, 2}, {5, 5}, {2, 4}}};
  for (const std::vector<Node>& nodes : groups) {
    for (const int lanes : {1, 2, 5}) all.push_back(Shape(nodes, lanes));
  }
  return all;
}

/// The programs without what tells them apart from others; none if they are refused.
std::optional<std::vector<Program>> programs_of(const Schedule& schedule, int node,
                                                const VectorExtent& extent,
                                                const BindingOptions& options) {
  try {
    std::vector<Program> programs = bind_schedule(schedule, node, extent, options);
    for (Program& program : programs) program.number = program.form = 0;
    return programs;
  } catch (const Error&) {
    return {};
  }
}

/// Lengths of which some leave chunks empty, staging that suffices or not, stores that stream.
bool are_alike(const Schedule& whole, const Schedule& abridged, int node, WorkerRange workers) {
  const ProgramNeeds needs = needs_of(whole);
  for (const std::size_t count : {0, 1, 9, 40, 1000, 70'000}) {
    for (const std::size_t short_bytes : {0, 1 << 14}) {
      const BindingOptions options{.element_bytes = 8,
                                   .streaming_threshold_bytes = 10'000,
                                   .short_staging_bytes = short_bytes,
                                   .workers = workers,
                                   .needs = &needs};
      if (programs_of(whole, node, {.count = count}, options) !=
          programs_of(abridged, node, {.count = count}, options)) {
        return false;
      }
    }
  }
  return true;
}

/// Of every worker, and of two neighbours. Returns how many programs were compared.
std::size_t prove(const Schedule& part, int node) {
  std::size_t proved = 0;
  const int worker_count = part.shape.node(node).workers;
  for (const int width : {1, 2}) {
    for (int first = 0; first < worker_count; first += width) {
      const WorkerRange workers{.first = first, .count = width};
      CAPTURE(first);
      CAPTURE(width);
      const Schedule abridged = abridged_for(part, workers);
      CHECK(are_alike(part, abridged, node, workers));
      const Shape processes = part.shape.with_processes_of(width);
      if (part.shape.worker_count() > width) {
        CHECK(memory_bytes(abridged) <= part_needs(part, &processes.processes()).most_bytes);
      }
      ++proved;
    }
  }
  return proved;
}

TEST_CASE("the wanted workers' programs are those of the whole schedule") {
  std::size_t proved = 0;
  tests::Sample sample;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Shape& shape : shapes()) {
      if (!algorithm->serves_shape(shape) || !sample.takes_next()) continue;
      for (int node = 0; node < shape.node_count(); ++node) {
        const Schedule part = algorithm->generate(shape, kSegments, 0, only_node(node));
        CAPTURE(algorithm->name);
        CAPTURE(shape.node_count());
        CAPTURE(shape.lane_count());
        CAPTURE(node);
        proved += prove(part, node);
        for (const int threads : {1, 2}) {
          proved +=
              prove(staged_throughout(part, shape.with_processes_of(threads).processes()), node);
        }
      }
    }
  }
  CHECK(proved > (tests::kIsSanitized ? 250 : 1600));
}

/// What processes of other nodes ask of a node, whose steps they do not make.
void prove_counts(const StepReplay& direct, const Schedule& whole, const Processes& processes) {
  const auto part = abridged_staging(direct, processes, {.first = 0, .count = 0});
  if (!part) return;  // made whole
  CHECK(part->needs == needs_of(whole));
  CHECK(part->step_count == whole.step_count());
  CHECK(staging_bytes(part->schedule, {.count = 1000}, 8) ==
        staging_bytes(whole, {.count = 1000}, 8));
}

/// Of what nobody makes whole, where processes have so many threads.
std::size_t prove_without_whole(const StepReplay& direct, const Schedule& whole,
                                const Processes& processes, int threads, int node) {
  std::size_t proved = 0;
  const ProgramNeeds needs = needs_of(whole);
  const int worker_count = whole.shape.node(node).workers;
  for (const int width : {1, 2}) {
    for (int first = 0; first < worker_count; first += width) {
      const WorkerRange workers{.first = first, .count = width};
      CAPTURE(first);
      CAPTURE(width);
      const auto part = abridged_staging(direct, processes, workers);
      REQUIRE(part);
      CHECK(are_alike(whole, part->schedule, node, workers));
      CHECK(part->needs == needs);
      CHECK(part->step_count == whole.step_count());
      CHECK(part->schedule.step_count() <= whole.step_count());
      for (const std::size_t count : {1, 1000, 70'000}) {
        CHECK(staging_bytes(part->schedule, {.count = count}, 8) ==
              staging_bytes(whole, {.count = count}, 8));
      }
      if (width <= threads) CHECK(memory_bytes(part->schedule) <= part->most_bytes);
      ++proved;
    }
  }
  return proved;
}

TEST_CASE("what a process makes of its node's staged schedule is what it would keep of the whole") {
  std::size_t proved = 0;
  tests::Sample sample;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Shape& shape : shapes()) {
      if (!algorithm->serves_shape(shape) || !sample.takes_next()) continue;
      for (int node = 0; node < shape.node_count(); ++node) {
        const StepReplay direct = algorithm->replay(shape, kSegments, 0, node);
        const Schedule part = algorithm->generate(shape, kSegments, 0, only_node(node));
        CAPTURE(algorithm->name);
        CAPTURE(shape.node_count());
        CAPTURE(shape.lane_count());
        CAPTURE(node);
        for (const int threads : {1, 2}) {
          const Processes processes = shape.with_processes_of(threads).processes();
          const Schedule whole = staged_throughout(part, processes);
          prove_counts(direct, whole, processes);
          if (!crosses_processes(direct, processes)) continue;
          proved += prove_without_whole(direct, whole, processes, threads, node);
        }
      }
    }
  }
  CHECK(proved > (tests::kIsSanitized ? 50 : 330));
}

TEST_CASE("what a part needs and takes is known without making it") {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Shape& shape : shapes()) {
      if (!algorithm->serves_shape(shape)) continue;
      for (int node = 0; node < shape.node_count(); ++node) {
        const StepReplay shown = algorithm->replay(shape, kSegments, 0, node);
        const Schedule part = algorithm->generate(shape, kSegments, 0, only_node(node));
        CAPTURE(algorithm->name);
        CAPTURE(shape.node_count());
        CAPTURE(shape.lane_count());
        CAPTURE(node);
        const PartNeeds found = part_needs(shown, nullptr);
        CHECK(found.needs == needs_of(part));
        CHECK(found.most_bytes >= memory_bytes(part));
        // The steps on which nobody depends are counted, too.
        CHECK(found.most_bytes <= memory_bytes(part) + part.step_count() * sizeof(int));
        for (const int threads : {1, 2}) {
          const Processes processes = shape.with_processes_of(threads).processes();
          CHECK(part_needs(shown, &processes).most_bytes ==
                part_needs(part, &processes).most_bytes);
        }
      }
    }
  }
}

TEST_CASE("of the other processes' steps a few are kept") {
  constexpr int kMembers = 32;
  const Shape shape = Shape::uniform(1, kMembers, kMembers, Visibility::staged);
  const Schedule whole = find_algorithm(Collective::allreduce, "dpml-ring").generate(shape);
  const Schedule abridged = abridged_for(whole, {.first = 3, .count = 1});
  CHECK(abridged.strands[3].steps.size() == whole.strands[3].steps.size());
  CHECK(whole.strands[4].steps.size() > std::size_t{4 * kMembers});
  CHECK(abridged.strands[4].steps.size() < 8);
}

TEST_CASE("where all workers are wanted nothing is left out") {
  const Schedule whole =
      find_algorithm(Collective::allreduce, "dpml-ring").generate(Shape::uniform(3, 2, 2));
  CHECK(abridged_for(whole, {}) == whole);
}

}  // namespace abridgement_test
}  // namespace hycoll
