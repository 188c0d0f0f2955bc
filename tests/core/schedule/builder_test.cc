#include "core/schedule/builder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace hycoll {
namespace builder_test {

ScheduleBuilder two_nodes(int chunk_count = 4) {
  return ScheduleBuilder(Collective::allreduce, "test", Shape::uniform(2, 2, 2), chunk_count);
}

/// The steps of a strand, with what they refer to.
std::vector<int> dependencies_of(const Schedule& schedule, int strand, int step) {
  const auto list = schedule.dependencies_of(
      schedule.strands[static_cast<std::size_t>(strand)].steps[static_cast<std::size_t>(step)]);
  return {list.begin(), list.end()};
}

const Step& step_of(const Schedule& schedule, int strand, int step) {
  return schedule.strands[static_cast<std::size_t>(strand)].steps[static_cast<std::size_t>(step)];
}

TEST_CASE("a new schedule has every member's buffers and every worker's main strand") {
  for (int nodes = 1; nodes <= 4; ++nodes) {
    for (int members = 1; members <= 3; ++members) {
      const Shape shape(
          std::vector<Node>(static_cast<std::size_t>(nodes), {members, members + nodes % 2}), 1);
      ScheduleBuilder builder(Collective::allreduce, "empty", shape, 5);
      CHECK(builder.shape() == shape);
      CHECK(builder.chunk_count() == 5);
      CHECK(builder.all_chunks().first == 0);
      CHECK(builder.all_chunks().count == 5);
      for (int member = 0; member < shape.member_count(); ++member) {
        CHECK(builder.input(member) == member);
        CHECK(builder.output(member) == shape.member_count() + member);
      }
      for (int worker = 0; worker < shape.worker_count(); ++worker) {
        CHECK(builder.main_strand(worker) == worker);
      }
      const Schedule schedule = std::move(builder).finish();
      CHECK(schedule.collective == traits_of(Collective::allreduce));
      CHECK(schedule.algorithm == "empty");
      REQUIRE(schedule.buffers.size() == 2 * static_cast<std::size_t>(shape.member_count()));
      for (int b = 0; b < 2 * shape.member_count(); ++b) {
        const Buffer& buffer = schedule.buffers[static_cast<std::size_t>(b)];
        CHECK(buffer.role == (b < shape.member_count() ? BufferRole::input : BufferRole::output));
        CHECK(buffer.owner == b % shape.member_count());
        CHECK(buffer.first_chunk == 0);
        CHECK(buffer.chunk_count == 5);
      }
      REQUIRE(schedule.strands.size() == static_cast<std::size_t>(shape.worker_count()));
      for (int worker = 0; worker < shape.worker_count(); ++worker) {
        CHECK(schedule.strands[static_cast<std::size_t>(worker)].worker == worker);
      }
      CHECK(schedule.step_count() == 0);
    }
  }
}

TEST_CASE("inputs and outputs hold what the collective says") {
  // Aggregators have workers, but neither inputs nor outputs.
  for (const Shape& shape : {Shape::uniform(2, 2, 1), Shape({{1, 2}, {0, 2}, {3, 3}}, 2)}) {
    const int members = shape.member_count();
    for (int c = 0; c < kCollectiveCount; ++c) {
      const auto collective = static_cast<Collective>(c);
      const int chunk_count = (has_pairs(collective) ? members : 3) * members;
      const int root = has_root(collective) ? members - 1 : 0;
      ScheduleBuilder builder(collective, "empty", shape, chunk_count, root);
      CHECK(builder.root() == root);
      for (int member = 0; member < members; ++member) {
        CAPTURE(name_of(collective));
        CAPTURE(member);
        const int vector = has_pairs(collective) ? members : chunk_count;
        ChunkRange expected{.first = 0, .count = vector};
        const bool is_scattered =
            collective == Collective::reduce_scatter || collective == Collective::scatter;
        if (is_scattered) expected = {3 * member, 3};
        if (delivers_to_root(collective) && member != root) expected = {0, 0};
        if (collective == Collective::exscan && member == 0) expected = {0, 0};
        if (collective == Collective::broadcast && member == root) expected = {0, 0};
        CHECK(builder.output_chunks(member) == expected);
        const bool has_input = !begins_at_root(collective) || member == root;
        ChunkRange input{.first = 0, .count = has_input ? vector : 0};
        const bool is_gathered =
            collective == Collective::allgather || collective == Collective::gather;
        if (is_gathered) input = {3 * member, 3};
        CHECK(builder.input_chunks(member) == input);
      }
      const std::vector<ChunkRange> expected = [&] {
        std::vector<ChunkRange> ranges;
        for (int member = 0; member < members; ++member) {
          ranges.push_back(builder.input_chunks(member));
        }
        for (int member = 0; member < members; ++member) {
          ranges.push_back(builder.output_chunks(member));
        }
        return ranges;
      }();
      const Schedule schedule = std::move(builder).finish();
      CHECK(schedule.collective == traits_of(collective));
      CHECK(schedule.root == root);
      CHECK(schedule.strands.size() == static_cast<std::size_t>(shape.worker_count()));
      REQUIRE(schedule.buffers.size() == expected.size());
      for (std::size_t id = 0; id < expected.size(); ++id) {
        CHECK(schedule.buffers[id].first_chunk == expected[id].first);
        CHECK(schedule.buffers[id].chunk_count == expected[id].count);
      }
    }
  }
}

TEST_CASE("buffers, strands and flags are added behind") {
  ScheduleBuilder builder = two_nodes();
  const BufferId staging = builder.add_staging(1, {1, 2});
  const BufferId scratch = builder.add_scratch(3, {0, 4});
  const BufferId lines = builder.add_lines(2, {3, 1});
  const StrandId strand = builder.add_strand(3);
  const FlagId flag = builder.add_flag(strand);
  const FlagId other = builder.add_flag(0);
  const Schedule schedule = std::move(builder).finish();
  const auto buffer = [&](BufferId id) { return schedule.buffers[static_cast<std::size_t>(id)]; };
  CHECK(staging == 8);
  CHECK(buffer(staging).role == BufferRole::staging);
  CHECK(buffer(staging).owner == 1);
  CHECK(buffer(staging).first_chunk == 1);
  CHECK(buffer(staging).chunk_count == 2);
  CHECK(buffer(scratch).role == BufferRole::scratch);
  CHECK(buffer(scratch).owner == 3);
  CHECK(buffer(lines).role == BufferRole::lines);
  CHECK(buffer(lines).owner == 2);
  CHECK(strand == 4);
  CHECK(schedule.strands[4].worker == 3);
  CHECK(schedule.flags[static_cast<std::size_t>(flag)].node == 1);
  CHECK(schedule.flags[static_cast<std::size_t>(flag)].writer_strand == strand);
  CHECK(schedule.flags[static_cast<std::size_t>(other)].node == 0);
}

TEST_CASE("steps carry what they were given") {
  ScheduleBuilder builder = two_nodes();
  const Span a = span_of(builder.output(0), {1, 2});
  const Span b = span_of(builder.output(1), {1, 2});
  const Span x = span_of(builder.input(0), {1, 2});
  const Span y = span_of(builder.input(1), {1, 2});
  const FlagId flag = builder.add_flag(0);
  builder.reduce(0, {a, b}, {y, x});
  builder.copy(0, a, x);
  builder.copy(0, std::vector{b, a}, y);
  builder.send(0, 1, 1, a);
  builder.recv(0, 0, 1, b);
  builder.native_allreduce(0, 1, b, a);
  builder.signal(0, flag);
  builder.wait(1, flag);
  const Schedule schedule = std::move(builder).finish();
  const auto check = [&](int strand, int index, StepKind kind, std::vector<Span> destinations,
                         std::vector<Span> sources) {
    const Step& step = step_of(schedule, strand, index);
    CHECK(step.kind == kind);
    CHECK(std::ranges::equal(schedule.destinations(step), destinations));
    CHECK(std::ranges::equal(schedule.sources(step), sources));
  };
  check(0, 0, StepKind::reduce, {a, b}, {y, x});
  check(0, 1, StepKind::copy, {a}, {x});
  check(0, 2, StepKind::copy, {b, a}, {y});
  check(0, 3, StepKind::send, {}, {a});
  check(0, 4, StepKind::recv, {b}, {});
  check(0, 5, StepKind::native, {b}, {a});
  check(0, 6, StepKind::signal, {}, {});
  check(1, 0, StepKind::wait, {}, {});
  CHECK(step_of(schedule, 0, 3).lane == 1);
  CHECK(step_of(schedule, 0, 3).peer_node == 1);
  CHECK(step_of(schedule, 0, 4).lane == 0);
  CHECK(step_of(schedule, 0, 5).lane == 1);
  CHECK(step_of(schedule, 0, 6).flag == flag);
  CHECK(step_of(schedule, 1, 0).flag == flag);
  CHECK(schedule.step_count() == 8);
}

TEST_CASE("tags are numbered by lane and direction, those of native calls by lane and node") {
  ScheduleBuilder builder = two_nodes();
  const auto chunk = [&](int member) { return span_of(builder.output(member), {0, 1}); };
  for (int i = 0; i < 3; ++i) {
    for (int lane = 0; lane < 2; ++lane) {
      builder.send(0, lane, 1, chunk(0));
      builder.recv(2, lane, 0, chunk(2));
      builder.send(2, lane, 0, chunk(2));
      builder.native_allreduce(0, lane, chunk(0), chunk(0));
    }
  }
  builder.recv(0, 0, 1, chunk(0));
  const Schedule schedule = std::move(builder).finish();
  for (int i = 0; i < 3; ++i) {
    for (int lane = 0; lane < 2; ++lane) {
      for (int k = 0; k < 2; ++k) {
        CHECK(step_of(schedule, 0, (2 * i + lane) * 2 + k).tag == i);
        CHECK(step_of(schedule, 2, (2 * i + lane) * 2 + k).tag == i);
      }
    }
  }
  // The other direction counts for itself.
  CHECK(step_of(schedule, 0, 12).tag == 0);
}

TEST_CASE("signals count up, and a wait waits for those so far or for a given number") {
  ScheduleBuilder builder = two_nodes();
  const FlagId flag = builder.add_flag(0);
  for (int i = 1; i <= 3; ++i) {
    builder.signal(0, flag);
    builder.wait(1, flag);
  }
  builder.wait(1, flag, 2);
  const Schedule schedule = std::move(builder).finish();
  for (int i = 1; i <= 3; ++i) {
    CHECK(step_of(schedule, 0, i - 1).value == i);
    CHECK(step_of(schedule, 1, i - 1).value == i);
  }
  CHECK(step_of(schedule, 1, 3).value == 2);
}

TEST_CASE("dependencies by hand") {
  ScheduleBuilder builder = two_nodes();
  const auto out = [&](int first, int count) { return span_of(builder.output(0), {first, count}); };
  const auto in = [&](int first, int count) { return span_of(builder.input(0), {first, count}); };
  const FlagId flag = builder.add_flag(0);
  const BufferId scratch = builder.add_scratch(0, {0, 4});
  builder.recv(0, 0, 1, out(0, 2));                      // 0
  builder.recv(0, 0, 1, out(2, 2));                      // 1
  builder.send(0, 0, 1, out(1, 1));                      // 2: read after write of 0
  builder.copy(0, span_of(scratch, {0, 1}), out(0, 1));  // 3: 0 is known to be over
  builder.copy(0, out(1, 1), in(1, 1));                  // 4: write after read of 2
  builder.copy(0, in(3, 1), span_of(scratch, {3, 1}));   // 5: in place, write after 1
  builder.send(0, 0, 1, in(0, 1));                       // 6
  builder.send(0, 0, 1, in(0, 1));                       // 7: reads do not conflict
  builder.signal(0, flag);                               // 8: all that is under way
  builder.wait(0, flag);                                 // 9
  builder.copy(0, out(0, 1), span_of(scratch, {0, 1}));  // 10: all is over
  const Schedule schedule = std::move(builder).finish();
  const std::vector<std::vector<int>> expected = {{}, {}, {0},    {}, {2}, {1},
                                                  {}, {}, {6, 7}, {}, {}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(dependencies_of(schedule, 0, static_cast<int>(i)) == expected[i]);
  }
}

/// A random step on one strand: what it reads and writes.
struct RandomStep {
  StepKind kind;
  Span destination;
  Span source;
};

RandomStep random_step(std::mt19937& random) {
  const auto below = [&](int bound) {
    return std::uniform_int_distribution<int>(0, bound - 1)(random);
  };
  constexpr StepKind kKinds[] = {StepKind::send, StepKind::recv,   StepKind::reduce,
                                 StepKind::copy, StepKind::native, StepKind::signal};
  const StepKind kind = kKinds[below(8) < 7 ? below(5) : 5];
  // Inputs and outputs of two members, and two scratch buffers.
  constexpr int kBuffers[] = {0, 1, 4, 5, 8, 9};
  const int first = below(4);
  const int count = 1 + below(4 - first);
  return {kind, {kBuffers[below(6)], first, count}, {kBuffers[below(6)], first, count}};
}

bool reads(const RandomStep& step) {
  return step.kind != StepKind::recv && step.kind != StepKind::signal;
}
bool writes(const RandomStep& step) {
  return step.kind != StepKind::send && step.kind != StepKind::signal;
}

/// Whether the later step must not begin before the earlier one has completed, with every member's
/// input and output the same memory.
bool conflict(const RandomStep& earlier, const RandomStep& later) {
  if (later.kind == StepKind::signal) return true;
  const auto overlap = [](const Span& a, const Span& b) {
    const auto memory = [](const Span& s) { return s.buffer < 8 ? s.buffer % 4 : s.buffer; };
    return memory(a) == memory(b) && a.first_chunk < b.first_chunk + b.chunk_count &&
           b.first_chunk < a.first_chunk + a.chunk_count;
  };
  return (writes(earlier) && reads(later) && overlap(earlier.destination, later.source)) ||
         (writes(earlier) && writes(later) && overlap(earlier.destination, later.destination)) ||
         (reads(earlier) && writes(later) && overlap(earlier.source, later.destination));
}

void add(ScheduleBuilder& builder, FlagId flag, const RandomStep& step) {
  switch (step.kind) {
    case StepKind::send:
      return builder.send(0, 0, 1, step.source);
    case StepKind::recv:
      return builder.recv(0, 0, 1, step.destination);
    case StepKind::reduce:
      return builder.reduce(0, {step.destination}, {step.source});
    case StepKind::copy:
      return builder.copy(0, step.destination, step.source);
    case StepKind::native:
      return builder.native_allreduce(0, 0, step.destination, step.source);
    default:
      return builder.signal(0, flag);
  }
}

TEST_CASE(
    "a step depends exactly on the conflicting steps under way that no step before it awaited") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    ScheduleBuilder builder = two_nodes();
    builder.add_scratch(0, {0, 4});
    builder.add_scratch(0, {0, 4});
    const FlagId flag = builder.add_flag(0);
    std::vector<RandomStep> steps;
    for (int i = 0; i < 30; ++i) {
      steps.push_back(random_step(random));
      add(builder, flag, steps.back());
    }
    const Schedule schedule = std::move(builder).finish();
    std::vector<bool> is_awaited(steps.size(), false);
    for (std::size_t later = 0; later < steps.size(); ++later) {
      std::vector<int> expected;
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        if (!is_asynchronous(steps[earlier].kind) || is_awaited[earlier]) continue;
        if (!conflict(steps[earlier], steps[later])) continue;
        is_awaited[earlier] = true;
        expected.push_back(static_cast<int>(earlier));
      }
      CHECK(dependencies_of(schedule, 0, static_cast<int>(later)) == expected);
    }
  }
}

TEST_CASE("strands do not depend on one another") {
  ScheduleBuilder builder = two_nodes();
  const StrandId second = builder.add_strand(0);
  const Span span = span_of(builder.output(0), {0, 4});
  builder.recv(0, 0, 1, span);
  builder.recv(second, 0, 1, span);
  builder.send(second, 0, 1, span);
  const Schedule schedule = std::move(builder).finish();
  CHECK(dependencies_of(schedule, second, 0).empty());
  CHECK(dependencies_of(schedule, second, 1) == std::vector{0});
}

/// Writes down what it is shown.
class Notes : public StepReader {
 public:
  struct Note {
    int strand;
    StepKind kind;
    std::vector<Span> spans;
    std::vector<int> dependencies;
  };

  void read(const Schedule& frame, int strand, const Step& step, std::span<const Span> destinations,
            std::span<const Span> sources, std::span<const int> dependencies) override {
    CHECK(std::cmp_less(strand, frame.strands.size()));
    Note& note =
        notes.emplace_back(Note{strand, step.kind, {}, {dependencies.begin(), dependencies.end()}});
    for (const auto spans : {destinations, sources}) {
      note.spans.insert(note.spans.end(), spans.begin(), spans.end());
    }
  }

  std::vector<Note> notes;
};

TEST_CASE("a reader is shown every step, and the asynchronous ones that it depends on by number") {
  Notes reader;
  ScheduleBuilder builder(Collective::allreduce, "test", Shape::uniform(2, 1, 1), 4, 0,
                          {only_node(0), &reader});
  const BufferId input = builder.input(0);
  const BufferId output = builder.output(0);
  builder.copy(0, span_of(output, {0, 4}), span_of(input, {0, 4}));
  builder.send(0, 0, 1, span_of(output, {0, 2}));
  const FlagId flag = builder.add_flag(0);
  builder.recv(0, 0, 1, span_of(output, {2, 2}));
  builder.reduce(0, {span_of(output, {2, 1})}, {span_of(output, {3, 1}), span_of(input, {1, 1})});
  builder.signal(0, flag);
  const Schedule frame = std::move(builder).finish();
  REQUIRE(reader.notes.size() == 5);
  CHECK(reader.notes[0].kind == StepKind::copy);
  CHECK(reader.notes[0].spans == std::vector<Span>{{output, 0, 4}, {input, 0, 4}});
  CHECK(reader.notes[1].dependencies.empty());
  CHECK(reader.notes[3].kind == StepKind::reduce);
  CHECK(reader.notes[3].dependencies == std::vector<int>{1});
  CHECK(reader.notes[4].kind == StepKind::signal);
  CHECK(reader.notes[4].dependencies == std::vector<int>{0});
  CHECK(frame.step_count() == 0);
  CHECK(frame.spans.empty());
  CHECK(frame.dependencies.empty());
  CHECK(frame.flags.size() == 1);
  CHECK(frame.buffers.size() == 2);
}

}  // namespace builder_test
}  // namespace hycoll
