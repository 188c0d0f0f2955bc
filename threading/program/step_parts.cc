#include "threading/program/step_parts.h"

#include <utility>

#include "core/schedule/pairs.h"
#include "threading/program/program_needs.h"

namespace hycoll {

std::size_t StepParts::row_length(std::span<const Span> sources) const {
  const Span& first = sources.front();
  const Buffer& input = schedule_.buffer_of(first);
  if (has_gaps_ || input.role != BufferRole::input) return 1;
  std::size_t length = 1;
  const auto continues = [&](const Span& span) {
    const Buffer& buffer = schedule_.buffer_of(span);
    return first.chunk_count == 1 && span.chunk_count == 1 && buffer.role == BufferRole::input &&
           std::cmp_equal(buffer.owner - input.owner, length) &&
           std::cmp_equal(span.first_chunk - first.first_chunk, length);
  };
  while (length < sources.size() && continues(sources[length])) ++length;
  // Pairs are numbered by receiver before sender: what lies between two of one receiver is its own.
  while (cell_in(schedule_, sources[length - 1]) != cell_in(schedule_, first)) --length;
  return length;
}

bool StepParts::must_be_cut(const StepPart& part) const {
  return has_gaps_ && touches_several_blocks(schedule_, part.destinations, part.sources);
}

std::vector<Span> StepParts::blocks_of(const Span& whole) const {
  const int end = whole.first_chunk + whole.chunk_count;
  std::vector<Span> blocks;
  for (int chunk = whole.first_chunk; chunk < end; ++chunk) {
    if (blocks.empty() || block_of(schedule_, chunk) != block_of(schedule_, chunk - 1)) {
      blocks.push_back({whole.buffer, chunk, 0});
    }
    ++blocks.back().chunk_count;
  }
  return blocks;
}

}  // namespace hycoll
