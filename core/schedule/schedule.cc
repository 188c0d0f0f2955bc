#include "core/schedule/schedule.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace hycoll {
namespace {

ChunkRange chunks_of(const BufferTraits& buffers, const Shape& shape, int chunk_count, int root,
                     int member) {
  if (!buffers.are_held_by(member, root)) return {};
  switch (buffers.extent) {
    case Extent::vector:
      return {.first = 0, .count = chunk_count};
    case Extent::row:
    case Extent::column:
      return {.first = 0, .count = shape.member_count()};
    case Extent::block:
      break;
  }
  const int block = chunk_count / shape.member_count();
  return {.first = member * block, .count = block};
}

}  // namespace

std::string_view name_of(StepKind kind) noexcept {
  constexpr std::array<std::string_view, 7> names = {"send",   "recv", "reduce", "copy",
                                                     "signal", "wait", "native"};
  return names[static_cast<std::size_t>(kind)];
}

ChunkRange input_chunks(const CollectiveTraits& collective, const Shape& shape, int chunk_count,
                        int root, int member) {
  return chunks_of(collective.input, shape, chunk_count, root, member);
}

ChunkRange output_chunks(const CollectiveTraits& collective, const Shape& shape, int chunk_count,
                         int root, int member) {
  return chunks_of(collective.output, shape, chunk_count, root, member);
}

int block_of(const Schedule& schedule, int chunk) {
  if (has_pairs(schedule.collective)) return chunk;
  return chunk / (schedule.chunk_count / schedule.shape.member_count());
}

int vector_chunk_count(const Schedule& schedule) {
  return has_pairs(schedule.collective) ? schedule.shape.member_count() : schedule.chunk_count;
}

bool natives_may_block(const Schedule& schedule) {
  const NumberRange workers = schedule.part.workers;
  std::vector<int> strands_of_worker(static_cast<std::size_t>(workers.count), 0);
  const auto strands_of = [&](const Strand& strand) -> int& {
    return strands_of_worker[static_cast<std::size_t>(strand.worker - workers.first)];
  };
  for (const Strand& strand : schedule.strands) {
    if (!strand.steps.empty()) ++strands_of(strand);
  }
  return std::ranges::all_of(schedule.strands, [&](const Strand& strand) {
    return strands_of(strand) <= 1 ||
           std::ranges::find(strand.steps, StepKind::native, &Step::kind) == strand.steps.end();
  });
}

std::size_t Schedule::step_count() const {
  return std::accumulate(
      strands.begin(), strands.end(), std::size_t{0},
      [](std::size_t sum, const Strand& strand) { return sum + strand.steps.size(); });
}

}  // namespace hycoll
