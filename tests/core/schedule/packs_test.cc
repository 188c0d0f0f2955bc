#include "core/schedule/packs.h"

#include <doctest/doctest.h>

#include <array>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/schedule/builder.h"
#include "core/schedule/pairs.h"
#include "core/schedule/part_checks.h"
#include "core/schedule/schedule_text.h"
#include "core/staging/staging.h"
#include "core/verifier/verifier.h"
#include "tests/core/verifier/examples.h"

namespace hycoll {
namespace packs_test {

constexpr int kChunks = 16;

ScheduleBuilder builder_on(const Shape& shape) {
  return ScheduleBuilder(Collective::alltoall, "packed", shape, kChunks);
}

TEST_CASE("what follows each other in a pack has neighbouring numbers beyond the partition's") {
  ScheduleBuilder builder = builder_on(Shape::uniform(2, 2, 1));
  CHECK(number_count(builder.schedule()) == kChunks);
  const BufferId first = builder.add_pack(0, std::array{ChunkRange{7, 2}, ChunkRange{3, 1}});
  const BufferId second = builder.add_pack(2, std::array{ChunkRange{3, 1}, ChunkRange{8, 1}});
  const Schedule& schedule = builder.schedule();
  CHECK(number_count(schedule) == kChunks + 5);
  const std::vector<int> expected = {7, 8, 3, 3, 8};
  for (int i = 0; i < 5; ++i) {
    CHECK(chunk_at(schedule, kChunks + i) == expected[static_cast<std::size_t>(i)]);
  }
  for (int chunk = 0; chunk < kChunks; ++chunk) CHECK(chunk_at(schedule, chunk) == chunk);
  CHECK(builder.in_pack(first, {1, 2}) == Span{first, kChunks + 1, 2});
  CHECK(builder.in_pack(second, {0, 2}) == Span{second, kChunks + 3, 2});
  const Buffer& pack = schedule.buffers[static_cast<std::size_t>(second)];
  CHECK(is_pack(schedule, pack));
  CHECK(cell_in(schedule, pack, kChunks + 4) == 1);
  CHECK(chunk_in(schedule, pack, 1) == 8);
  CHECK(holds(schedule, pack, builder.in_pack(second, {1, 1})));
  CHECK_FALSE(holds(schedule, pack, builder.in_pack(second, {1, 2})));
  CHECK_FALSE(holds(schedule, pack, builder.in_pack(first, {2, 1})));
  CHECK_FALSE(holds(schedule, pack, {second, 3, 1}));
  CHECK_FALSE(is_pack(schedule, schedule.buffers.front()));
}

TEST_CASE("spans hold the same if their chunks are the same, in the same order") {
  ScheduleBuilder builder = builder_on(Shape::uniform(2, 2, 1));
  const BufferId pack = builder.add_pack(0, std::array{ChunkRange{7, 2}, ChunkRange{3, 1}});
  const BufferId other = builder.add_pack(0, std::array{ChunkRange{8, 1}, ChunkRange{3, 2}});
  const Schedule& schedule = builder.schedule();
  const auto same = [&](const Span& one, const Span& two) {
    return hold_the_same(schedule, one, two) && hold_the_same(schedule, two, one);
  };
  CHECK(same(builder.in_pack(pack, {0, 2}), span_of(builder.output(0), {7, 2})));
  CHECK(same(builder.in_pack(pack, {1, 2}), builder.in_pack(other, {0, 2})));
  CHECK_FALSE(same(builder.in_pack(pack, {1, 2}), builder.in_pack(other, {0, 3})));
  CHECK_FALSE(same(builder.in_pack(pack, {1, 2}), builder.in_pack(other, {1, 2})));
  CHECK_FALSE(same(builder.in_pack(pack, {0, 2}), span_of(builder.output(0), {6, 2})));
}

TEST_CASE("a worker of another part has no pack, and numbers go on without it") {
  ScheduleBuilder builder(Collective::alltoall, "packed", Shape::uniform(2, 2, 1), kChunks, 0,
                          only_node(1));
  CHECK(builder.add_pack(0, std::array{ChunkRange{7, 2}}) == kElsewhere);
  CHECK(number_count(builder.schedule()) == kChunks);
  CHECK(builder.in_pack(kElsewhere, {1, 1}).buffer == kElsewhere);
}

TEST_CASE("more numbers than an int can be are refused") {
  const Shape shape = Shape::uniform(1, 30'000, 1);
  ScheduleBuilder builder(Collective::alltoall, "packed", shape, 30'000 * 30'000);
  const ChunkRange most{.first = 0, .count = 900'000'000};
  builder.add_pack(0, std::array{most});
  CHECK_THROWS_WITH_AS(builder.add_pack(0, std::array{most}),
                       "algorithm 'packed' packs more blocks than can be numbered; choose another "
                       "algorithm, or fewer members",
                       Error);
}

TEST_CASE("parts renumber what is in their packs, and make the whole again") {
  const Schedule whole = testing::packed_alltoall_example();
  REQUIRE(verify(whole).correct);
  std::vector<Schedule> parts;
  for (const int node : whole.part.nodes) {
    parts.push_back(restricted_to(whole, only_node(node)));
    const Schedule& part = parts.back();
    CHECK(part.packed.size() == 8);
    CHECK(part.packed.front().first_number == kChunks);
    CHECK(number_count(part) == kChunks + 8);
    for (std::size_t i = 0; i < part.packed.size(); ++i) {
      CHECK(part.packed[i].chunks == whole.packed[static_cast<std::size_t>(node) * 8 + i].chunks);
    }
  }
  const Schedule again = joined(parts);
  CHECK(verify(again).correct);
  CHECK(again.packed == whole.packed);
  CHECK(restricted_to(again, only_node(1)) == parts.back());
}

TEST_CASE("what passes through packs is staged like everything else") {
  const Verdict verdict = verify(staged(testing::packed_alltoall_example()));
  CHECK_MESSAGE(verdict.correct, verdict.failure);
}

TEST_CASE("the listing shows the chunks in a pack") {
  const std::string text = to_text(testing::packed_alltoall_example(), 0);
  CHECK(text.find("send    [8, 9) [10, 11) [9, 10) [11, 12)  scratch(0)#8 -> node 1") !=
        std::string::npos);
}

TEST_CASE("the verifier looks at packs") {
  const Schedule whole = testing::packed_alltoall_example();
  const auto check = [&](auto change, Check failed) {
    Schedule changed = whole;
    change(changed);
    const Verdict verdict = verify(changed);
    CHECK_FALSE(verdict.correct);
    CHECK(verdict.failed_check == failed);
    return verdict.failure;
  };
  // One side of a message has its blocks in another order.
  check([](Schedule& s) { std::swap(s.packed[8].chunks, s.packed[9].chunks); }, Check::structure);
  check(
      [](Schedule& s) {
        // On both sides of the copies behind it, too.
        std::swap(s.packed[4].chunks, s.packed[5].chunks);
        for (Span& span : s.spans) {
          if (span.buffer != 9 || span.chunk_count > 1) continue;
          if (span.first_chunk == kChunks + 4) {
            span.first_chunk = kChunks + 5;
          } else if (span.first_chunk == kChunks + 5) {
            span.first_chunk = kChunks + 4;
          }
        }
      },
      Check::messages);
  check([](Schedule& s) { s.packed[3].first_number = kChunks; }, Check::structure);
  check([](Schedule& s) { s.packed[3].chunks.first = kChunks; }, Check::structure);
  check([](Schedule& s) { s.packed[3].chunks.count = 0; }, Check::structure);
  check([](Schedule& s) { s.packed.pop_back(); }, Check::structure);
  check([](Schedule& s) { --s.buffers[8].chunk_count; }, Check::structure);
  check([](Schedule& s) { s.buffers[8].role = BufferRole::staging; }, Check::structure);
  check(
      [](Schedule& s) {
        s.packed[3].chunks = {8, 2};
        s.packed.erase(s.packed.begin() + 4);
      },
      Check::structure);
  Schedule gathered = testing::paired_allgather_example();
  gathered.packed.push_back({.first_number = gathered.chunk_count, .chunks = {0, 1}});
  CHECK(verify(gathered).failed_check == Check::structure);
}

}  // namespace packs_test
}  // namespace hycoll
