// Schedules bound to nodes: what becomes of copies that collect; and what the executor cannot hold
// is refused, on all nodes alike.

#include "threading/program/program.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/schedule/builder.h"
#include "core/schedule/pairs.h"
#include "threading/memory/node_memory.h"
#include "threading/program/schedule_binding.h"

namespace hycoll {
namespace program_test {

/// Node 0 sends to node 1 so often; node 2 has nothing to do.
Schedule messages(int count) {
  ScheduleBuilder builder(Collective::allreduce, "messages", Shape::uniform(3, 1, 1), 1);
  for (int i = 0; i < count; ++i) {
    builder.send(0, 0, 1, span_of(builder.input(0), builder.all_chunks()));
    builder.recv(1, 0, 0, span_of(builder.output(1), builder.all_chunks()));
  }
  return std::move(builder).finish();
}

/// The first worker of node 0 raises so many flags.
Schedule flags(int count) {
  ScheduleBuilder builder(Collective::allreduce, "flags", Shape::uniform(2, 2, 1), 1);
  for (int i = 0; i < count; ++i) {
    const FlagId flag = builder.add_flag(0);
    builder.signal(0, flag);
    builder.signal(0, flag);
    builder.wait(1, flag);
  }
  return std::move(builder).finish();
}

void check_refused(const Schedule& schedule, const BindingOptions& options,
                   const std::string& what) {
  for (int node = 0; node < schedule.shape.node_count(); ++node) {
    CAPTURE(node);
    CHECK_THROWS_WITH_AS(bind_schedule(schedule, node, {.count = 100}, options),
                         doctest::Contains(what.c_str()), Error);
  }
}

void check_bound(const Schedule& schedule, const BindingOptions& options) {
  for (int node = 0; node < schedule.shape.node_count(); ++node) {
    CAPTURE(node);
    CHECK_NOTHROW(bind_schedule(schedule, node, {.count = 100}, options));
  }
}

/// The first worker of a node of three collects what the members have for the last of them: the
/// inputs of so many neighbours from the first on, and then the others', behind themselves.
Schedule collected(int neighbours) {
  const Shape shape = Shape::uniform(1, 3, 1);
  ScheduleBuilder builder(Collective::alltoall, "collected", shape, 9);
  const ChunkRange tile = tile_for(shape, 0, 2);
  const BufferId scratch = builder.add_scratch(0, tile);
  std::vector<Span> sources;
  for (int from = 0; from < 3; ++from) {
    const ChunkRange block{.first = tile.first + from, .count = 1};
    if (from >= neighbours) {
      builder.copy(0, span_of(scratch, block), span_of(builder.input(from), block));
    }
    sources.push_back(span_of(from < neighbours ? builder.input(from) : scratch, block));
  }
  builder.collect(0, span_of(builder.output(2), tile), sources);
  return std::move(builder).finish();
}

/// The rows of the instructions of the first worker that write an output.
std::vector<int> rows_of(const Schedule& schedule, const VectorExtent& extent) {
  const Program program = bind_schedule(schedule, 0, extent, {.element_bytes = 4}).front();
  std::vector<int> rows;
  for (const Instruction& instruction : program.strands.front().instructions) {
    const Operand& destination = program.operands[instruction.first_operand];
    if (destination.role != BufferRole::output) continue;
    CHECK(instruction.kind == InstructionKind::copy);
    CHECK(instruction.source_count == 1);
    rows.push_back(instruction.row_count);
  }
  return rows;
}

TEST_CASE(
    "the same block of neighbouring members is one instruction, what lies elsewhere another") {
  CHECK(rows_of(collected(3), {.count = 5}) == std::vector{3});
  CHECK(rows_of(collected(2), {.count = 5}) == std::vector{2, 1});
  CHECK(rows_of(collected(1), {.count = 5}) == std::vector{1, 1, 1});
  const Program program =
      bind_schedule(collected(3), 0, {.count = 5}, {.element_bytes = 4}).front();
  const Instruction& row = program.strands.front().instructions.front();
  CHECK(row.size_bytes == 3 * 5 * 4);
  CHECK(row.reaches_others);
  CHECK(program.operands[row.first_operand].index == 2);
  CHECK(program.operands[row.first_operand + 1].index == 0);
  CHECK(program.operands[row.first_operand + 1].offset_bytes == 2 * 5 * 4);
}

TEST_CASE("slices of blocks, which have gaps between them, are one instruction each") {
  CHECK(rows_of(collected(3), {.count = 5, .first = 2, .limit = 2}) == std::vector{1, 1, 1});
}

TEST_CASE("who reads a row of inputs looks up all of them") {
  const auto programs = bind_schedule(collected(3), 0, {.count = 5}, {.element_bytes = 4});
  CHECK_FALSE(programs[0].is_looked_up);
  CHECK(programs[1].is_looked_up);
  CHECK(programs[2].is_looked_up);
}

/// The first worker of a node of two stages so many chunks, and tells of each.
Schedule pieces(int count) {
  ScheduleBuilder builder(Collective::allreduce, "pieces", Shape::uniform(1, 2, 1), count);
  const FlagId flag = builder.add_flag(0);
  const BufferId staging = builder.add_staging(0, builder.all_chunks());
  builder.signal(0, flag);  // has entered
  for (int chunk = 0; chunk < count; ++chunk) {
    builder.copy(0, span_of(staging, {chunk, 1}), span_of(builder.input(0), {chunk, 1}));
    builder.signal(0, flag);
    builder.wait(1, flag);
  }
  return std::move(builder).finish();
}

/// Whether the signals of a node's first worker are left out, in their order.
std::vector<bool> left_out(const Schedule& schedule, std::size_t size_bytes) {
  const Program program = bind_schedule(schedule, 0, {.count = size_bytes}, {}).front();
  std::vector<bool> result;
  for (const Instruction& instruction : program.strands.front().instructions) {
    const bool is_left_out = instruction.kind == InstructionKind::left_out;
    if (is_left_out || instruction.kind == InstructionKind::signal) result.push_back(is_left_out);
  }
  return result;
}

TEST_CASE("a signal that is repeated before anything can wait is left out where it says little") {
  CHECK(left_out(pieces(3), 3 * 64) == std::vector{true, true, true, false});
  // 2 KiB each: every second one is worth it.
  CHECK(left_out(pieces(4), 8 << 10) == std::vector{true, true, false, true, false});
  CHECK(left_out(pieces(3), 3 << 20) == std::vector{true, false, false, false});
}

TEST_CASE("a signal before a wait is raised, however little it tells of") {
  ScheduleBuilder builder(Collective::allreduce, "ping-pong", Shape::uniform(1, 2, 1), 1);
  const FlagId first = builder.add_flag(0);
  const FlagId second = builder.add_flag(1);
  for (const FlagId flag : {first, second}) builder.signal(flag == first ? 0 : 1, flag);
  for (int turn = 0; turn < 3; ++turn) {
    builder.signal(0, first);
    builder.wait(1, first);
    builder.signal(1, second);
    builder.wait(0, second);
  }
  const std::vector<bool> signals = left_out(std::move(builder).finish(), 64);
  CHECK(signals == std::vector{true, false, false, false});
}

TEST_CASE("tags that the endpoints do not have are refused on all nodes") {
  check_bound(messages(4), {.tag_count = 4});
  check_refused(messages(4), {.tag_count = 3}, "'messages' needs more tags than");
}

TEST_CASE("flags that a worker of one node does not have are refused on all nodes") {
  check_bound(flags(kFlagsPerWorker), {});
  check_refused(flags(kFlagsPerWorker + 1), {}, "more flags of one worker than the executor has");
}

TEST_CASE("a signal may announce more messages than 16 bits count") {
  constexpr int kMessages = (1 << 16) + 1;
  Schedule schedule = messages(1);
  Strand& strand = schedule.strands.front();
  const Step send = strand.steps.front();
  schedule.flags.push_back({.node = 0, .writer_strand = 0});
  Step signal{.kind = StepKind::signal, .flag = 0, .value = 1};
  signal.first_dependency = static_cast<int>(schedule.dependencies.size());
  signal.dependency_count = kMessages;
  strand.steps.clear();
  for (int i = 0; i < kMessages; ++i) {
    strand.steps.push_back(send);
    strand.steps.back().tag = i;
    schedule.dependencies.push_back(i);
  }
  strand.steps.push_back(signal);
  const std::vector<Program> programs = bind_schedule(schedule, 0, {.count = 1}, {});
  const Instruction& bound = programs.front().strands.front().instructions.back();
  REQUIRE(bound.kind == InstructionKind::signal);
  CHECK(bound.dependency_count == kMessages);
}

}  // namespace program_test
}  // namespace hycoll
