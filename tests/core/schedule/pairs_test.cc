#include "core/schedule/pairs.h"

#include <doctest/doctest.h>

#include <vector>

#include "core/schedule/builder.h"
#include "core/verifier/verifier.h"

namespace hycoll {
namespace pairs_test {

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {Shape::uniform(1, 1, 1),
                                         Shape::uniform(1, 5, 1),
                                         Shape::uniform(4, 1, 1),
                                         Shape::uniform(3, 4, 2),
                                         Shape({{2, 3}, {1, 1}, {4, 4}}, 1),
                                         Shape({{1, 1}, {0, 2}, {3, 3}}, 1)};
  return all;
}

TEST_CASE("every pair has a number of its own, and a number its pair") {
  for (const Shape& shape : shapes()) {
    const int members = shape.member_count();
    std::vector<bool> is_taken(static_cast<std::size_t>(members * members), false);
    for (int from = 0; from < members; ++from) {
      for (int to = 0; to < members; ++to) {
        const Pair pair{.from = from, .to = to};
        const int chunk = chunk_of(shape, pair);
        REQUIRE(chunk >= 0);
        REQUIRE(chunk < members * members);
        CHECK_FALSE(is_taken[static_cast<std::size_t>(chunk)]);
        is_taken[static_cast<std::size_t>(chunk)] = true;
        CHECK(pair_of(shape, chunk) == pair);
      }
    }
  }
}

TEST_CASE("what passes between two nodes is one range, sorted by who is to have it") {
  for (const Shape& shape : shapes()) {
    for (int from = 0; from < shape.node_count(); ++from) {
      for (int to = 0; to < shape.node_count(); ++to) {
        const ChunkRange tile = tile_of(shape, from, to);
        CHECK(tile.count == shape.node(from).members * shape.node(to).members);
        for (int chunk = tile.first; chunk < tile.first + tile.count; ++chunk) {
          const Pair pair = pair_of(shape, chunk);
          CHECK(shape.node_of_member(pair.from) == from);
          CHECK(shape.node_of_member(pair.to) == to);
          const ChunkRange own = tile_for(shape, from, pair.to);
          CHECK(chunk - own.first == pair.from - shape.first_member(from));
          CHECK(own.count == shape.node(from).members);
        }
      }
    }
  }
}

/// A schedule without steps.
Schedule empty_schedule(const Shape& shape) {
  const int members = shape.member_count();
  return ScheduleBuilder(Collective::alltoall, "empty", shape, members * members).finish();
}

TEST_CASE("rows and columns hold their member's blocks in rank order") {
  for (const Shape& shape : shapes()) {
    const Schedule schedule = empty_schedule(shape);
    for (int member = 0; member < shape.member_count(); ++member) {
      const Buffer& row = schedule.buffers[static_cast<std::size_t>(schedule.input(member))];
      const Buffer& column = schedule.buffers[static_cast<std::size_t>(schedule.output(member))];
      CHECK(row.chunk_count == shape.member_count());
      for (int other = 0; other < shape.member_count(); ++other) {
        const int sent = chunk_of(shape, {.from = member, .to = other});
        const int received = chunk_of(shape, {.from = other, .to = member});
        CHECK(cell_in(schedule, row, sent) == other);
        CHECK(cell_in(schedule, column, received) == other);
        CHECK(chunk_in(schedule, row, other) == sent);
        CHECK(chunk_in(schedule, column, other) == received);
        CHECK(holds(schedule, row, {schedule.input(member), sent, 1}));
        CHECK(holds(schedule, row, {schedule.input(member), received, 1}) == (other == member));
      }
    }
  }
}

TEST_CASE("a span lies in a row or column only where its chunks follow each other there") {
  const Shape shape = Shape::uniform(2, 2, 1);
  const Schedule schedule = empty_schedule(shape);
  const auto is_held = [&](int buffer, ChunkRange chunks) {
    return holds(schedule, schedule.buffers[static_cast<std::size_t>(buffer)],
                 span_of(buffer, chunks));
  };
  // What is for member 1 from the members of a node, but not from those of both.
  CHECK(is_held(schedule.output(1), tile_for(shape, 1, 1)));
  CHECK_FALSE(is_held(schedule.output(1), {tile_for(shape, 0, 1).first, 4}));
  CHECK_FALSE(is_held(schedule.output(1), tile_for(shape, 1, 0)));
  CHECK_FALSE(is_held(schedule.input(1), tile_for(shape, 0, 1)));
  CHECK_FALSE(is_held(schedule.input(1), {-1, 1}));
  CHECK_FALSE(is_held(schedule.input(1), {15, 2}));
  // Of nodes of one member everything from one, and for one.
  const Shape flat = Shape::uniform(3, 1, 1);
  const Schedule single = empty_schedule(flat);
  CHECK(holds(single, single.buffers[static_cast<std::size_t>(single.output(2))],
              span_of(single.output(2), {6, 3})));
}

/// 2 members of one node, each of whom copies what is for it.
Schedule copied(const std::vector<Pair>& sources) {
  const Shape shape = Shape::uniform(1, 2, 1);
  ScheduleBuilder builder(Collective::alltoall, "copied", shape, 4);
  std::vector<FlagId> flags = {builder.add_flag(0), builder.add_flag(1)};
  for (int member = 0; member < 2; ++member) {
    builder.signal(member, flags[static_cast<std::size_t>(member)]);
  }
  for (int member = 0; member < 2; ++member) {
    builder.wait(member, flags[static_cast<std::size_t>(1 - member)]);
    for (const Pair& pair : sources) {
      if (pair.to != member) continue;
      const ChunkRange block{chunk_of(shape, pair), 1};
      builder.copy(member, span_of(builder.output(member), block),
                   span_of(builder.input(pair.from), block));
    }
    builder.signal(member, flags[static_cast<std::size_t>(member)]);
  }
  for (int member = 0; member < 2; ++member) {
    builder.wait(member, flags[static_cast<std::size_t>(1 - member)], 2);
  }
  return std::move(builder).finish();
}

TEST_CASE("the verifier asks for the block from every member, and for where it lies") {
  const Verdict whole = verify(copied({{0, 0}, {1, 0}, {0, 1}, {1, 1}}));
  REQUIRE_MESSAGE(whole.correct, whole.failure);
  CHECK(verify(copied({{0, 0}, {0, 1}, {1, 1}})).failed_check == Check::result);
  Schedule misplaced = copied({{0, 0}, {1, 0}, {0, 1}, {1, 1}});
  // Member 0 takes what is for member 1.
  for (Span& span : misplaced.spans) {
    if (span.first_chunk == 1) span.first_chunk = 3;
  }
  const Verdict verdict = verify(misplaced);
  CHECK_FALSE(verdict.correct);
  CHECK(verdict.failed_check == Check::structure);
  Schedule other = empty_schedule(Shape::uniform(1, 2, 1));
  other.chunk_count = 8;
  CHECK(verify(other).failed_check == Check::structure);
}

}  // namespace pairs_test
}  // namespace hycoll
