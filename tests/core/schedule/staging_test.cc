// Schedules for workers that cannot reach each other's buffers.

#include "core/staging/staging.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/base/partition.h"
#include "core/drawing/statistics.h"
#include "core/schedule/schedule_text.h"
#include "core/verifier/verifier.h"
#include "tests/support/sanitized.h"

namespace hycoll {
namespace staging_test {

Schedule direct_schedule(std::string_view name, const Shape& shape, int segments = 1) {
  return find_algorithm(Collective::allreduce, name).generate(shape, segments);
}

/// The chunks of staging that the workers of a node write, from whom, and how often they are read.
std::map<std::string, int> chunks_by_kind(const Schedule& schedule) {
  std::map<std::string, int> counts;
  for (const Strand& strand : schedule.strands) {
    for (const Step& step : strand.steps) {
      for (const Span& span : schedule.destinations(step)) {
        const BufferRole role = schedule.buffers[static_cast<std::size_t>(span.buffer)].role;
        counts[std::string(name_of(step.kind)) + " to " + std::string(name_of(role))] +=
            span.chunk_count;
      }
    }
  }
  return counts;
}

TEST_CASE("two processes copy in only what the other one reduces: the four phases of DPML") {
  const Schedule schedule = staged(direct_schedule("dpml-ring", Shape::uniform(1, 2, 2)));
  CHECK(to_text(schedule).find("node 0\n"
                               "  worker 0, member 0, lane 0\n"
                               "    strand 0\n"
                               "         0  signal  flag 0 = 1\n"
                               "         1  copy    [1, 2)  staging(0)#4 <- input(0)\n"
                               "         2  signal  flag 2 = 1\n"
                               "         3  wait    flag 3 >= 1\n"
                               "         4  reduce  [0, 1)  output(0), staging(0)#5 <- input(0) op "
                               "staging(0)#6\n"
                               "         5  signal  flag 2 = 2\n"
                               "         6  wait    flag 3 >= 2\n"
                               "         7  copy    [1, 2)  output(0) <- staging(0)#7\n"
                               "         8  wait    flag 1 >= 1\n"
                               "  worker 1, member 1, lane 1\n") != std::string::npos);
  CHECK(verify(schedule).correct);
}

TEST_CASE("M members with M lanes: every chunk is copied in by M - 1, once out by M - 1") {
  for (const int members : {2, 3, 5, 8}) {
    for (const int nodes : {1, 2}) {
      CAPTURE(members);
      CAPTURE(nodes);
      const Schedule schedule = staged(
          direct_schedule("dpml-recursive-doubling", Shape::uniform(nodes, members, members)));
      std::map<std::string, int> counts = chunks_by_kind(schedule);
      const int chunks = nodes * members;  // there is one for each lane
      CHECK(schedule.chunk_count == members);
      CHECK(counts["copy to staging"] == chunks * (members - 1));
      CHECK(counts["reduce to staging"] == chunks);
      CHECK(counts["copy to output"] == chunks * (members - 1));
    }
  }
}

TEST_CASE("bytes moved on one node whose leaders are members: (5 M - 2) n") {
  for (const int members : {2, 3, 4, 8}) {
    for (int lanes = 1; lanes <= members; ++lanes) {
      const Schedule schedule =
          staged(direct_schedule("dpml-ring", Shape::uniform(1, members, lanes)));
      const NodeStatistics node =
          statistics(schedule, Partition::uniform(1, schedule.chunk_count), 1).maximum;
      const auto m = static_cast<std::size_t>(members);
      const auto n = static_cast<std::size_t>(schedule.chunk_count);
      CHECK(node.copy_read + node.copy_written + node.reduce_read + node.reduce_written ==
            (5 * m - 2) * n);
      CHECK(node.staging == m * n);
    }
  }
}

TEST_CASE("two processes of two threads: only what crosses between them is staged") {
  // Every lane's leader reads two inputs of the other process, where each has one of its own.
  const Shape shape = Shape::uniform(1, 4, 4);
  const Schedule schedule =
      staged(direct_schedule("dpml-ring", shape), shape.with_processes_of(2).processes());
  std::map<std::string, int> counts = chunks_by_kind(schedule);
  CHECK(counts["copy to staging"] == 4 * 2);
  CHECK(counts["reduce to staging"] == 4);
  CHECK(counts["reduce to output"] == 4 * 2);
  CHECK(counts["copy to output"] == 4 * 2);
  CHECK(verify(schedule).correct);
}

TEST_CASE("one process per node with all its threads: nothing is staged") {
  for (const int nodes : {1, 3}) {
    const Shape shape = Shape::uniform(nodes, 3, 2);
    const Schedule direct = direct_schedule("dpml-ring", shape);
    const Schedule schedule = staged(direct, shape.with_processes_of(3).processes());
    CHECK(schedule.buffers.size() == direct.buffers.size());
    CHECK(schedule.step_count() == direct.step_count());
    CHECK(verify(schedule).correct);
  }
}

TEST_CASE("one lane: the leader's input is read where it is, and so is its result") {
  const Schedule schedule = staged(direct_schedule("single-leader-ring", Shape::uniform(1, 4, 1)));
  std::map<std::string, int> counts = chunks_by_kind(schedule);
  CHECK(counts["copy to staging"] == 3);
  CHECK(counts["reduce to staging"] == 1);
  CHECK(counts["reduce to output"] == 1);
  CHECK(counts["copy to output"] == 3);
}

TEST_CASE("what touches no foreign buffer only changes its visibility") {
  const Shape alone = Shape::uniform(3, 1, 1);
  const Shape together = Shape::uniform(2, 3, 1);
  const Schedule schedules[] = {direct_schedule("ring", alone), direct_schedule("dpml-ring", alone),
                                direct_schedule("lines-recursive-doubling", together)};
  for (const Schedule& direct : schedules) {
    const Schedule schedule = staged(direct);
    CHECK(schedule.shape == direct.shape.with_visibility(Visibility::staged));
    CHECK(schedule.step_count() == direct.step_count());
    CHECK(schedule.buffers.size() == direct.buffers.size());
    CHECK(verify(schedule).correct);
  }
}

/// All staging is read, and each buffer written by one worker.
void check_staging_is_needed(const Schedule& schedule) {
  std::map<int, std::vector<bool>> is_needed;  // by buffer, per chunk of the partition
  std::map<int, int> writer;
  for (const Strand& strand : schedule.strands) {
    for (const Step& step : strand.steps) {
      for (const Span& span : schedule.destinations(step)) {
        if (schedule.buffer_of(span).role != BufferRole::staging) continue;
        CHECK(writer.try_emplace(span.buffer, strand.worker).first->second == strand.worker);
      }
      for (const Span& span : schedule.sources(step)) {
        if (schedule.buffer_of(span).role != BufferRole::staging) continue;
        auto& needed = is_needed[span.buffer];
        needed.resize(static_cast<std::size_t>(schedule.chunk_count));
        for (int chunk = 0; chunk < span.chunk_count; ++chunk) {
          needed[static_cast<std::size_t>(span.first_chunk + chunk)] = true;
        }
      }
    }
  }
  for (std::size_t id = 0; id < schedule.buffers.size(); ++id) {
    const Buffer& buffer = schedule.buffers[id];
    if (buffer.role != BufferRole::staging) continue;
    const auto& needed = is_needed[static_cast<int>(id)];
    REQUIRE(needed.size() == static_cast<std::size_t>(schedule.chunk_count));
    for (int chunk = 0; chunk < buffer.chunk_count; ++chunk) {
      CHECK(needed[static_cast<std::size_t>(buffer.first_chunk + chunk)]);
    }
  }
}

/// Workers dealt to two processes in turn.
Shape interleaved(const Shape& shape) {
  std::vector<int> processes;
  for (int worker = 0; worker < shape.worker_count(); ++worker) {
    const int node = shape.node_of_worker(worker);
    processes.push_back(2 * node + (worker - shape.first_worker(node)) % 2);
  }
  return shape.with_processes(Processes(processes));
}

std::vector<Shape> shapes_to_stage() {
  std::vector<Shape> shapes;
  for (const int lanes : {1, 2, 3, 5}) {
    for (int nodes = 1; nodes <= 5; ++nodes) {
      for (int members = 1; members <= 4; ++members) {
        shapes.push_back(Shape::uniform(nodes, members, lanes));
        const auto count = static_cast<std::size_t>(nodes);
        if (members > 1) shapes.emplace_back(std::vector<Node>(count, Node{1, members}), lanes);
      }
    }
    shapes.push_back(Shape({{1, 1}, {3, 3}}, lanes));
    shapes.push_back(Shape({{4, 4}, {1, 2}, {2, 3}}, lanes));
    shapes.push_back(Shape({{2, 2}, {3, 3}, {0, 1}}, lanes));
    shapes.push_back(Shape({{2, 3}, {1, 1}, {0, 2}, {0, 1}}, lanes));
  }
  return shapes;
}

TEST_CASE("every algorithm on many shapes: proved, with the trees of the direct schedule") {
  std::size_t count = 0;
  tests::Sample sample;
  for (const Shape& shape : shapes_to_stage()) {
    for (const Algorithm* algorithm : all_algorithms()) {
      if (!algorithm->serves_shape(shape) || !sample.takes_next()) continue;
      for (const int segments : {1, 3}) {
        CAPTURE(to_text(shape));
        CAPTURE(name_of(algorithm->collective));
        CAPTURE(algorithm->name);
        CAPTURE(segments);
        const int root = has_root(algorithm->collective) ? shape.member_count() / 2 : 0;
        const Verdict direct = verify(algorithm->generate(shape, segments, root));
        const Schedule schedule =
            algorithm->generate(shape.with_visibility(Visibility::staged), segments, root);
        const Verdict verdict = verify(schedule);
        REQUIRE_MESSAGE(verdict.correct, verdict.failure);
        CHECK(verdict.rank_ordered == direct.rank_ordered);
        CHECK(verdict.tree_digest == direct.tree_digest);
        CHECK(verdict.resources.message_count == direct.resources.message_count);
        CHECK(verdict.resources.node_sent_chunk_count == direct.resources.node_sent_chunk_count);
        check_staging_is_needed(schedule);
        ++count;
      }
    }
  }
  CHECK(count > (tests::kIsSanitized ? 150 : 1000));
}

TEST_CASE("threads of several processes: proved, with the trees of the direct schedule") {
  std::size_t count = 0;
  tests::Sample sample;
  std::size_t seed = 0;
  for (const Shape& shape : shapes_to_stage()) {
    const Shape ways[] = {shape.with_processes_of(2), shape.with_processes_of(3),
                          interleaved(shape)};
    for (const Algorithm* algorithm : all_algorithms()) {
      if (!algorithm->serves_shape(shape) || !sample.takes_next()) continue;
      const Shape& way = ways[seed % std::size(ways)];
      const int segments = seed++ % 2 == 0 ? 1 : 3;
      CAPTURE(to_text(way));
      CAPTURE(name_of(algorithm->collective));
      CAPTURE(algorithm->name);
      CAPTURE(segments);
      const int root = has_root(algorithm->collective) ? shape.member_count() / 2 : 0;
      const Verdict direct = verify(algorithm->generate(shape, segments, root));
      const Schedule schedule = algorithm->generate(way, segments, root);
      const Verdict verdict = verify(schedule);
      REQUIRE_MESSAGE(verdict.correct, verdict.failure);
      CHECK(schedule.shape.processes() == way.processes());
      CHECK(verdict.rank_ordered == direct.rank_ordered);
      CHECK(verdict.tree_digest == direct.tree_digest);
      CHECK(verdict.resources.message_count == direct.resources.message_count);
      check_staging_is_needed(schedule);
      ++count;
    }
  }
  CHECK(count > (tests::kIsSanitized ? 75 : 500));
}

TEST_CASE("a direct schedule is not taken for a staged one") {
  Schedule direct = direct_schedule("dpml-ring", Shape::uniform(1, 2, 2));
  direct.shape = direct.shape.with_visibility(Visibility::staged);
  const Verdict verdict = verify(direct);
  CHECK_FALSE(verdict.correct);
  CHECK(verdict.failed_check == Check::structure);
}

}  // namespace staging_test
}  // namespace hycoll
