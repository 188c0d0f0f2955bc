// Vectors that pass through bounded staging in several runs.

#include "threading/program/staging_slices.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/errors.h"
#include "tests/threading/bound_slices.h"

namespace hycoll {
namespace staging_slices_test {

const Shape kShape = Shape({{2, 2}, {3, 3}}, 2, Visibility::staged);

Schedule staged_schedule(Collective collective) {
  return find_algorithm(collective, "dpml-ring").generate(kShape, 2);
}

TEST_CASE("a slice is as long as the staging allows, and all if it fits") {
  for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter}) {
    const Schedule schedule = staged_schedule(collective);
    for (const std::size_t count : {0, 1, 1000, 100'003}) {
      for (const std::size_t capacity : {4096, 10'000, 65'536, 4'000'000}) {
        CAPTURE(count);
        CAPTURE(capacity);
        VectorExtent extent{.count = count};
        const std::size_t limit = slice_limit(schedule, extent, 8, capacity);
        CHECK(limit >= 1);
        CHECK(limit <= std::max<std::size_t>(count, 1));
        if (staging_bytes(schedule, extent, 8) <= capacity) {
          CHECK(limit == std::max<std::size_t>(count, 1));
        }
        for (; extent.first < count; extent.first += limit) {
          extent.limit = limit;
          CHECK(staging_bytes(schedule, extent, 8) <= capacity);
        }
        extent = {.count = count, .limit = 4 * limit};
        // Not needlessly short.
        if (limit < count) CHECK(staging_bytes(schedule, extent, 8) > capacity);
      }
    }
  }
}

TEST_CASE("staging that is too small is refused") {
  const Schedule schedule = staged_schedule(Collective::allreduce);
  CHECK_THROWS_WITH_AS(slice_limit(schedule, {.count = 100'000}, 8, 63),
                       doctest::Contains("'dpml-ring' needs"), Error);
}

TEST_CASE("staging lies with the worker that writes it, and its program says how much") {
  const Schedule schedule = staged_schedule(Collective::allreduce);
  const std::vector<int> workers = staging_workers(schedule);
  std::size_t staged = 0;
  for (const Strand& strand : schedule.strands) {
    for (const Step& step : strand.steps) {
      for (const Span& span : schedule.destinations(step)) {
        const auto id = static_cast<std::size_t>(span.buffer);
        const bool is_staging = schedule.buffers[id].role == BufferRole::staging;
        CHECK(workers[id] == (is_staging ? strand.worker : -1));
        staged += is_staging ? 1 : 0;
      }
    }
  }
  CHECK(staged > 0);
  const VectorExtent extent{.count = 5000};
  std::size_t most = 0;
  for (int node = 0; node < kShape.node_count(); ++node) {
    const auto programs = bind_schedule(schedule, node, extent, {.element_bytes = 8});
    std::size_t most_here = 0;
    for (const Program& program : programs) most_here = std::max(most_here, program.staging_bytes);
    // A worker finds what others of its node have staged in the same set of theirs.
    for (const Program& program : programs) {
      CHECK(program.staging_set_bytes >= most_here);
      CHECK(program.staging_set_bytes < most_here + kSeparationBytes);
      CHECK(program.staging_set_bytes % kSeparationBytes == 0);
    }
    most = std::max(most, most_here);
  }
  CHECK(most == staging_bytes(schedule, extent, 8));
}

TEST_CASE("slices of the same length share their programs, unequal blocks have one for each run") {
  const Schedule allreduce = staged_schedule(Collective::allreduce);
  const std::size_t limit = slice_limit(allreduce, {.count = 100'003}, 8, 65536);
  const SlicedPrograms equal =
      tests::bound_slices(allreduce, 1, {.count = 100'003}, {.element_bytes = 8}, limit);
  CHECK(equal.run_count > 3);
  CHECK(equal.programs.size() == 2);
  CHECK(&equal.program(0, 2) == &equal.program(equal.run_count - 2, 2));
  CHECK(&equal.program(0, 2) != &equal.program(equal.run_count - 1, 2));
  const std::vector<std::size_t> blocks = {50'000, 0, 7, 20'000, 49'999};
  const VectorExtent extent{.count = 50'000, .block_counts = blocks};
  const Schedule reduce_scatter = staged_schedule(Collective::reduce_scatter);
  const SlicedPrograms unequal =
      tests::bound_slices(reduce_scatter, 0, extent, {.element_bytes = 8},
                          slice_limit(reduce_scatter, extent, 8, 65536));
  CHECK(unequal.run_count > 3);
  CHECK(unequal.programs.size() == unequal.run_count);
}

TEST_CASE("inputs of a slice of every block are read where the blocks lie") {
  // Two members, whose blocks of 1000 elements are worked on from element 256 on, 128 at a time.
  const Schedule schedule = find_algorithm(Collective::reduce_scatter, "dpml-ring")
                                .generate(Shape::uniform(1, 2, 1, Visibility::staged));
  const std::vector<Program> programs =
      bind_schedule(schedule, 0, {.count = 1000, .first = 256, .limit = 128}, {.element_bytes = 8});
  std::vector<std::size_t> read;
  for (const Program& program : programs) {
    for (const StrandProgram& strand : program.strands) {
      for (const Instruction& instruction : strand.instructions) {
        for (int s = 0; s < instruction.source_count; ++s) {
          const Operand& operand =
              program.operands[instruction.first_operand + instruction.destination_count +
                               static_cast<std::size_t>(s)];
          if (operand.role != BufferRole::input) continue;
          CHECK(instruction.count == 128);
          read.push_back(operand.offset_bytes);
        }
      }
    }
  }
  std::ranges::sort(read);
  // Both blocks of both members; the buffers of the call are displaced by 256 elements.
  CHECK(read == std::vector<std::size_t>{0, 0, 8000, 8000});
}

}  // namespace staging_slices_test
}  // namespace hycoll
