// Scratch in a place that several buffers share: who writes one of them waits for those who use the
// others, and what these held is lost.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/drawing/statistics.h"
#include "core/schedule/builder.h"
#include "core/schedule/cells.h"
#include "core/schedule/part_checks.h"
#include "core/verifier/verifier.h"
#include "tests/core/verifier/expectations.h"
#include "tests/core/verifier/mutants.h"

namespace hycoll {
namespace shared_scratch_test {

using testing::EditableSchedule;
using testing::EditableStep;
using testing::expect_failure;
using testing::expect_step_failure;

/// The two chunks of a broadcast between two nodes pass through scratch for one.
Schedule through_one_place(const PartRequest& nodes = {}) {
  ScheduleBuilder builder(Collective::broadcast, "through one place", Shape::uniform(2, 1, 1), 2, 0,
                          nodes);
  std::vector<BufferId> first;
  for (int node = 0; node < 2; ++node) {
    first.push_back(builder.add_shared_scratch(node, {0, 1}));
  }
  for (int node = 0; node < 2; ++node) {
    const BufferId second = builder.add_scratch_over(first[static_cast<std::size_t>(node)], {1, 1});
    const StrandId strand = builder.main_strand(node);
    for (int chunk = 0; chunk < 2; ++chunk) {
      const Span place =
          span_of(chunk == 0 ? first[static_cast<std::size_t>(node)] : second, {chunk, 1});
      if (node == 0) {
        builder.copy(strand, place, span_of(builder.input(0), {chunk, 1}));
        builder.send(strand, 0, 1, place);
      } else {
        builder.recv(strand, 0, 0, place);
        builder.copy(strand, span_of(builder.output(1), {chunk, 1}), place);
      }
    }
    if (strand != kElsewhere) builder.signal(strand, builder.add_flag(strand));
  }
  return std::move(builder).finish();
}

int scratch_of(const Schedule& schedule, int number) {
  int found = 0;
  for (std::size_t id = 0; id < schedule.buffers.size(); ++id) {
    if (schedule.buffers[id].role == BufferRole::scratch && found++ == number) {
      return static_cast<int>(id);
    }
  }
  return -1;
}

TEST_CASE("a step that writes one buffer of a place waits for those that use another one") {
  const Schedule schedule = through_one_place();
  const Verdict verdict = verify(schedule);
  CHECK_MESSAGE(verdict.correct, verdict.failure);
  // The second copy into the place, after the send of the first one.
  const Step& copy = schedule.strands[0].steps[2];
  REQUIRE(copy.kind == StepKind::copy);
  REQUIRE(copy.dependency_count == 1);
  CHECK(schedule.dependencies_of(copy).front() == 1);
}

TEST_CASE("a place is as large as the largest buffer there, and counts once") {
  ScheduleBuilder builder(Collective::allreduce, "places", Shape::uniform(1, 1, 1), 8);
  const BufferId one = builder.add_shared_scratch(0, {0, 2});
  const BufferId own = builder.add_scratch(0, {0, 3});
  builder.add_scratch_over(one, {2, 5});
  builder.add_scratch_over(one, {7, 1});
  const Schedule schedule = std::move(builder).finish();
  const std::vector<int> sizes = place_sizes(schedule);
  CHECK(std::vector<int>(sizes.begin() + 2, sizes.end()) == std::vector<int>{5, 3, 5, 5});
  const Cells cells = place_cells(schedule, Aliasing::distinct, Sets::one);
  CHECK(cells.first[static_cast<std::size_t>(own)] ==
        cells.first[static_cast<std::size_t>(one)] + 5);
  CHECK(cells.first[4] == cells.first[2]);
  CHECK(cells.first[5] == cells.first[2]);
  CHECK(cells.count == 2 * 8 + 5 + 3);
  CHECK(statistics(schedule).nodes.front().scratch == 8);
}

TEST_CASE("parts number places anew") {
  const Schedule whole = through_one_place();
  const auto difference =
      check_parts(whole, [](NumberRange nodes) { return through_one_place(nodes); });
  CHECK_MESSAGE(!difference, difference.value_or(""));
  const Schedule part = restricted_to(whole, only_node(1));
  const int first = scratch_of(part, 0);
  CHECK(part.buffers[static_cast<std::size_t>(first)].shares_with == first);
  CHECK(part.buffers[static_cast<std::size_t>(scratch_of(part, 1))].shares_with == first);
}

TEST_CASE("who writes a place too early is found") {
  expect_step_failure(
      through_one_place(), 0, 2, [](EditableStep& s) { s.dependencies.clear(); }, Check::races,
      "worker 0 (node 0), strand 0, step 2 (copy): uses chunk 1 of scratch(0)#" +
          std::to_string(scratch_of(through_one_place(), 2)) +
          " while step 1 of strand 0 (a send) may still use it");
}

TEST_CASE("what is read after another buffer of the place has been written is found") {
  const Schedule right = through_one_place();
  EditableSchedule wrong(right);
  // Node 1 copies what it has received first when the second message is there.
  const EditableStep copy = wrong.at(1, 1);
  wrong.remove(1, 1);
  EditableStep late = copy;
  late.dependencies.clear();
  wrong.strands[1].insert(wrong.strands[1].begin() + 2, late);
  const Verdict verdict = verify(wrong.pack());
  CHECK_FALSE(verdict.correct);
}

TEST_CASE("places are those of scratch of the same worker") {
  const Schedule schedule = through_one_place();
  const auto refused = [&](int buffer, int shares_with) {
    expect_failure(
        schedule,
        [&](EditableSchedule& s) {
          s.frame.buffers[static_cast<std::size_t>(buffer)].shares_with = shares_with;
        },
        Check::structure,
        "buffer " + std::to_string(buffer) + " lies where buffer " + std::to_string(shares_with) +
            " does, which is no shared scratch of worker " +
            std::to_string(schedule.buffers[static_cast<std::size_t>(buffer)].owner));
  };
  const int second = scratch_of(schedule, 2);
  refused(second, -2);
  refused(second, 0);                        // a member's
  refused(second, scratch_of(schedule, 1));  // another worker's
  refused(second, second + 1);               // a later one
  refused(0, 0);                             // no scratch
}

}  // namespace shared_scratch_test
}  // namespace hycoll
