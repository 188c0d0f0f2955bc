// Schedules bound to nodes: what the executor cannot hold is refused, on all nodes alike.

#include "threading/program/program.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>

#include "core/base/errors.h"
#include "core/schedule/builder.h"
#include "threading/memory/node_memory.h"

namespace hycoll {
namespace {

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

}  // namespace
}  // namespace hycoll
