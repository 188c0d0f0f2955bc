// One schedule bound to ever other lengths, in the same memory: as if it were bound to each alone.

#include "threading/program/schedule_binding.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "tests/support/sanitized.h"
#include "tests/threading/bound_slices.h"

namespace hycoll {
namespace schedule_binding_test {

/// Some chunks are empty, or all are filled, or one line more than that is; from one element on.
const std::vector<std::size_t> kCounts = {1,   7,    8,      9,   40,     0,    4096,   5001, 333,
                                          16,  2,    65'536, 511, 70'001, 1000, 24,     1,    513,
                                          128, 4095, 64,     3,   8192,   17,   70'002, 4096, 0};

std::vector<Shape> shapes(Visibility visibility) {
  std::vector<Shape> all;
  const std::vector<std::vector<Node>> groups = {
      {{2, 2}}, {{3, 4}}, {{2, 2}, {2, 2}}, {{1, 2}, {3, 3}, {2, 2}}};
  for (const std::vector<Node>& nodes : groups) {
    for (const int lanes : {1, 2}) all.push_back(Shape(nodes, lanes, visibility));
  }
  return all;
}

/// But for what tells programs apart.
Program without_numbers(Program program) {
  program.number = program.form = 0;
  return program;
}

BindingOptions options_of(const ProgramNeeds& needs) {
  return {.element_bytes = 8,
          .streaming_threshold_bytes = 100'000,
          .streaming_staging_bytes = 1024,
          .short_staging_bytes = 2048,
          .needs = &needs};
}

/// A schedule that is bound to one vector after another.
class Rebound {
 public:
  Rebound(const Schedule& schedule, int node)
      : schedule_(schedule),
        node_(node),
        needs_(needs_of(schedule)),
        use_(schedule),
        binding_(schedule, node, options_of(needs_)) {}

  /// Whether this is as if bound alone, slices, refusals and all.
  bool is_like_bound_alone(const VectorExtent& extent, std::size_t element_bytes,
                           std::size_t capacity_bytes) {
    BindingOptions options = options_of(needs_);
    options.element_bytes = element_bytes;
    SlicedPrograms alone;
    std::string refusal;
    std::size_t limit = 0;
    try {
      limit = slice_limit(schedule_, extent, element_bytes, capacity_bytes);
      alone = tests::bound_slices(schedule_, node_, extent, options, limit);
    } catch (const Error& error) {
      refusal = error.what();
    }
    try {
      limit = slice_limit(use_, extent, element_bytes, capacity_bytes);
      bind_slices(binding_, extent, element_bytes, limit, {}, memory_, rebound_);
    } catch (const Error& error) {
      return refusal == error.what();
    }
    if (!refusal.empty() || rebound_.run_count != alone.run_count ||
        rebound_.displacement_bytes != alone.displacement_bytes ||
        rebound_.staging_bytes != alone.staging_bytes) {
      return false;
    }
    return std::ranges::equal(
        rebound_.programs, alone.programs,
        [](const std::vector<Program>& left, const std::vector<Program>& right) {
          return std::ranges::equal(left, right, {}, without_numbers, without_numbers);
        });
  }

  const SlicedPrograms& programs() const { return rebound_; }

 private:
  const Schedule& schedule_;
  int node_;
  ProgramNeeds needs_;
  StagingUse use_;
  ScheduleBinding binding_;
  BindingMemory memory_;
  SlicedPrograms rebound_;
};

/// Unequal blocks, some of them empty, ever other ones.
std::vector<std::size_t> blocks_of(int member_count, std::size_t count) {
  std::vector<std::size_t> blocks;
  for (int member = 0; member < member_count; ++member) {
    const auto m = static_cast<std::size_t>(member);
    blocks.push_back((count + m) % 3 == 0 ? 0 : count * (m + 1) % 7001);
  }
  return blocks;
}

int wrong_bindings(const Schedule& schedule, int node) {
  int wrong = 0;
  Rebound rebound(schedule, node);
  for (const std::size_t count : kCounts) {
    for (const std::size_t element_bytes : {8, 1, 24}) {
      for (const std::size_t capacity_bytes : {std::size_t{1} << 30, std::size_t{32768}}) {
        VectorExtent extent{.count = count};
        if (!rebound.is_like_bound_alone(extent, element_bytes, capacity_bytes)) ++wrong;
        // All pairs' blocks are equal.
        if (!has_blocks(schedule.collective) || has_pairs(schedule.collective)) continue;
        const std::vector<std::size_t> blocks = blocks_of(schedule.shape.member_count(), count);
        extent.block_counts = blocks;
        if (!rebound.is_like_bound_alone(extent, element_bytes, capacity_bytes)) ++wrong;
      }
    }
  }
  return wrong;
}

TEST_CASE("a schedule bound to many vectors in turn is bound to each as if it were the only one") {
  int schedules = 0;
  tests::Sample sample;
  for (const Visibility visibility : {Visibility::direct, Visibility::staged}) {
    for (const Shape& shape : shapes(visibility)) {
      for (const Algorithm* const algorithm : all_algorithms()) {
        if (!algorithm->serves_shape(shape) || !sample.takes_next()) continue;
        CAPTURE(algorithm->name);
        CAPTURE(shape.node_count());
        CAPTURE(shape.lane_count());
        const Schedule schedule = algorithm->generate(shape, 3);
        CHECK(wrong_bindings(schedule, shape.node_count() - 1) == 0);
        ++schedules;
      }
    }
  }
  CHECK(schedules > (tests::kIsSanitized ? 10 : 60));
}

TEST_CASE("each binding has a number of its own, and lengths of one form share what they can") {
  const Schedule schedule = find_algorithm(Collective::allreduce, "dpml-recursive-doubling")
                                .generate(Shape::uniform(1, 2, 2));
  const ScheduleBinding binding(schedule, 0, {});
  BindingMemory memory;
  std::vector<Program> programs;
  binding.bind({.count = 1000}, 8, {}, memory, programs);
  REQUIRE(programs.size() == 2);
  const std::uint64_t form = programs[0].form;
  std::uint64_t last = std::max(programs[0].number, programs[1].number);
  const std::size_t size_bytes = binding.size_bytes();
  const Instruction* const first = programs[0].strands[0].instructions.data();
  for (std::size_t count = 1001; count < 1100; ++count) {
    binding.bind({.count = count}, 8, {}, memory, programs);
    CHECK(programs[0].form == form);
    CHECK(std::min(programs[0].number, programs[1].number) > last);
    last = std::max(programs[0].number, programs[1].number);
    CHECK(programs[0].strands[0].instructions.data() == first);  // in place
  }
  CHECK(binding.size_bytes() == size_bytes);
  binding.bind({.count = 8}, 8, {}, memory, programs);  // a line: the other lane has nothing
  CHECK(programs[0].form != form);
  CHECK(binding.size_bytes() > size_bytes);
}

TEST_CASE("lists of counts with ever other zeros in them leave no memory behind") {
  const Shape shape = Shape::uniform(1, 8, 1);
  const Schedule schedule =
      find_algorithm(Collective::reduce_scatter, "dpml-pairwise").generate(shape);
  const ScheduleBinding binding(schedule, 0, {});
  BindingMemory memory;
  std::vector<Program> programs;
  std::size_t size_bytes = 0;
  for (std::size_t zeros = 0; zeros < 256; ++zeros) {
    std::vector<std::size_t> blocks(8, 10);
    for (std::size_t block = 0; block < 8; ++block) {
      if ((zeros >> block & 1) != 0) blocks[block] = 0;
    }
    const VectorExtent extent{.count = 10, .block_counts = blocks};
    binding.bind(extent, 8, {.first = 3, .count = 2}, memory, programs);
    const std::vector<Program> alone = bind_schedule(
        schedule, 0, extent, {.element_bytes = 8, .workers = {.first = 3, .count = 2}});
    CHECK(std::ranges::equal(programs, alone, {}, without_numbers, without_numbers));
    if (zeros == 64) size_bytes = binding.size_bytes();
  }
  CHECK(binding.size_bytes() == size_bytes);
}

}  // namespace schedule_binding_test
}  // namespace hycoll
