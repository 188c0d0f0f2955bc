// The rules of streams: what the verifier accepts, and how it finds each rule broken.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/schedule/builder.h"
#include "core/verifier/verifier.h"

namespace hycoll {
namespace streams_test {

/// A broadcast of two chunks from member 0 on one node, through a stream, with changes to try.
struct Recipe {
  int members = 3;
  bool is_awaited = true;    ///< The writer waits for the others' arrival.
  int skipped_reader = -1;   ///< This member does not read the second chunk.
  int reversed_reader = -1;  ///< This one reads the chunks in the other order.
  int waiting_reader = -1;   ///< This one waits for another member between the chunks.
  int joining_reader = -1;   ///< This one reads both chunks at once.
};

Verdict verdict_of(const Recipe& recipe) {
  ScheduleBuilder builder(Collective::broadcast, "stream", Shape::uniform(1, recipe.members, 1), 2);
  std::vector<FlagId> arrived;
  for (int member = 0; member < recipe.members; ++member) {
    arrived.push_back(builder.add_flag(builder.main_strand(member)));
    builder.signal(builder.main_strand(member), arrived.back());
  }
  const BufferId stream = builder.add_stream(0, builder.all_chunks());
  for (int member = 1; member < recipe.members; ++member) {
    if (recipe.is_awaited)
      builder.wait(builder.main_strand(0), arrived[static_cast<std::size_t>(member)]);
  }
  for (int chunk = 0; chunk < 2; ++chunk) {
    builder.copy(builder.main_strand(0), span_of(stream, {chunk, 1}),
                 span_of(builder.input(0), {chunk, 1}));
  }
  for (int member = 1; member < recipe.members; ++member) {
    const StrandId strand = builder.main_strand(member);
    const auto read = [&](ChunkRange chunks) {
      builder.copy(strand, span_of(builder.output(member), chunks), span_of(stream, chunks));
    };
    if (member == recipe.joining_reader) {
      read(builder.all_chunks());
      continue;
    }
    read({member == recipe.reversed_reader ? 1 : 0, 1});
    if (member == recipe.waiting_reader) builder.wait(strand, arrived[0]);
    if (member == recipe.skipped_reader) continue;
    read({member == recipe.reversed_reader ? 0 : 1, 1});
  }
  return verify(std::move(builder).finish());
}

void check_refused(const Recipe& recipe, Check check, const std::string& why) {
  const Verdict verdict = verdict_of(recipe);
  CAPTURE(verdict.failure);
  CHECK_FALSE(verdict.correct);
  CHECK(verdict.failed_check == check);
  CHECK(verdict.failure.find(why) != std::string::npos);
}

TEST_CASE("a stream that everybody reads as it is written is right") {
  for (int members = 1; members <= 4; ++members) {
    const Verdict verdict = verdict_of({.members = members});
    CAPTURE(verdict.failure);
    CHECK(verdict.correct);
  }
}

TEST_CASE("everybody reads everything, in the order and the pieces in which it is written") {
  check_refused({.skipped_reader = 2}, Check::structure, "worker 2 does not read stream");
  check_refused({.reversed_reader = 1}, Check::structure, "worker 1 does not read stream");
  check_refused({.joining_reader = 2}, Check::structure, "worker 2 does not read stream");
}

TEST_CASE("whoever reads a stream waits for nothing else until it has read all") {
  check_refused({.waiting_reader = 1}, Check::structure, "may keep stream");
}

TEST_CASE("nobody writes before all have entered, for a reader may still be in the last run") {
  check_refused({.is_awaited = false}, Check::races, "may write a stream before worker 1 has");
}

TEST_CASE("who may touch a stream, and how") {
  const auto refused = [](auto&& add_steps, const std::string& why) {
    ScheduleBuilder builder(Collective::allreduce, "stream", Shape({{2, 3}}, 1), 2);
    const BufferId stream = builder.add_stream(0, builder.all_chunks());
    add_steps(builder, stream);
    const Verdict verdict = verify(std::move(builder).finish());
    CAPTURE(verdict.failure);
    CHECK(verdict.failed_check == Check::structure);
    CHECK(verdict.failure.find(why) != std::string::npos);
  };
  const auto all = [](const ScheduleBuilder& builder, BufferId buffer) {
    return span_of(buffer, builder.all_chunks());
  };
  refused([&](ScheduleBuilder& b,
              BufferId stream) { b.copy(b.main_strand(1), all(b, stream), all(b, b.input(1))); },
          "which only worker 0 may do");
  refused(
      [&](ScheduleBuilder& b, BufferId stream) {
        b.copy(b.main_strand(0), all(b, stream), all(b, b.input(0)));
        b.copy(b.main_strand(0), all(b, stream), all(b, b.input(0)));
      },
      "which have been written before");
  refused([&](ScheduleBuilder& b,
              BufferId stream) { b.copy(b.main_strand(2), all(b, b.output(1)), all(b, stream)); },
          "by workers with a member");
  refused(
      [&](ScheduleBuilder& b, BufferId stream) {
        b.reduce(b.main_strand(1), {all(b, b.output(1))}, {all(b, stream), all(b, b.input(1))});
      },
      "only copies");
  refused(
      [&](ScheduleBuilder& b, BufferId stream) {
        const BufferId scratch = b.add_scratch(0, b.all_chunks());
        b.copy(b.main_strand(0), all(b, stream), all(b, b.input(0)));
        b.copy(b.main_strand(0), all(b, scratch), all(b, stream));
      },
      "reads a stream of its own worker");
  refused(
      [&](ScheduleBuilder& b, BufferId stream) {
        b.copy(b.main_strand(0), all(b, stream), all(b, b.input(0)));
        b.copy(b.main_strand(1), all(b, b.add_stream(1, b.all_chunks())), all(b, stream));
      },
      "copies from stream to stream");
}

TEST_CASE("a strand reads one stream, and a stream is read in one strand") {
  const auto verdict_with = [](auto&& add_reads) {
    ScheduleBuilder builder(Collective::broadcast, "stream", Shape::uniform(1, 2, 1), 2);
    const FlagId arrived = builder.add_flag(builder.main_strand(1));
    builder.signal(builder.main_strand(1), arrived);
    builder.wait(builder.main_strand(0), arrived);
    std::vector<Span> pieces;
    for (int chunk = 0; chunk < 2; ++chunk) {
      const ChunkRange chunks{chunk, 1};
      pieces.push_back(span_of(builder.add_stream(0, chunks), chunks));
      builder.copy(builder.main_strand(0), pieces.back(), span_of(builder.input(0), chunks));
    }
    add_reads(builder, pieces);
    return verify(std::move(builder).finish());
  };
  const auto read = [](ScheduleBuilder& builder, StrandId strand, const Span& piece) {
    builder.copy(strand, span_of(builder.output(1), {piece.first_chunk, 1}), piece);
  };
  const Verdict apart = verdict_with([&](ScheduleBuilder& b, const std::vector<Span>& pieces) {
    for (const Span& piece : pieces) read(b, b.add_strand(1), piece);
  });
  CAPTURE(apart.failure);
  CHECK(apart.correct);
  const Verdict together = verdict_with([&](ScheduleBuilder& b, const std::vector<Span>& pieces) {
    for (const Span& piece : pieces) read(b, b.main_strand(1), piece);
  });
  CHECK(together.failed_check == Check::structure);
  CHECK(together.failure.find("in a strand that reads stream") != std::string::npos);
  const Verdict divided = verdict_with([&](ScheduleBuilder& b, const std::vector<Span>&) {
    const BufferId stream = b.add_stream(0, b.all_chunks());
    for (const int chunk : {0, 1}) {
      const ChunkRange chunks{chunk, 1};
      b.copy(b.main_strand(0), span_of(stream, chunks), span_of(b.input(0), chunks));
      read(b, b.add_strand(1), span_of(stream, chunks));
    }
  });
  CHECK(divided.failed_check == Check::structure);
  CHECK(divided.failure.find("which its worker also touches in strand") != std::string::npos);
}

}  // namespace streams_test
}  // namespace hycoll
