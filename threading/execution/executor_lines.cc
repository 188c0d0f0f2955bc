// What an executor reads from lines.

#include <algorithm>
#include <cstring>

#include "threading/execution/executor.h"

namespace hycoll {
namespace {

/// After so many calls in a row whose lines were there at the first look, their writers are ahead,
/// and the lines of the next call are fetched early. Fetching a line before it is written takes it
/// away from its writer, which costs more than fetching early saves.
constexpr std::uint64_t kReadyCallsBeforeFetching = 16;

void fetch_for_reading(const Line* lines, std::size_t first_line, std::size_t end_line) {
  for (std::size_t l = first_line; l < end_line; ++l) __builtin_prefetch(lines + l);
}

}  // namespace

bool WorkerExecutor::lines_arrived(StrandState& state, const Instruction& instruction) {
  int lines_source = 0;
  for (const Operand& operand : operands(instruction).subspan(instruction.destination_count)) {
    if (operand.role != BufferRole::lines) continue;
    if (lines_source++ < state.lines_sources_read) continue;
    const LinesPart part = lines_part(instruction, operand);
    if (!part_arrived(state, instruction, part, lines_source - 1)) {
      ready_calls_ = 0;
      return false;
    }
    if (program_->some_run_ahead && runs_ahead_ && ready_calls_ >= kReadyCallsBeforeFetching) {
      const std::size_t first_line = operand.offset_bytes / Line::kPayloadBytes;
      fetch_for_reading(
          memory_.lines(program_->memory, operand.index, operand.lines_buffer, arguments_.call + 1),
          first_line, first_line + part.line_count);
    }
    state.lines_read = 0;
    ++state.lines_sources_read;
  }
  state.lines_sources_read = 0;
  return true;
}

bool WorkerExecutor::part_arrived(StrandState& state, const Instruction& instruction,
                                  const LinesPart& part, int lines_source) {
  if (part.is_one_line()) {
    // Pairs with the releasing store of the tag in write_lines: the payload is this call's.
    return part.lines->tag.load(std::memory_order_acquire) == line_tag_;
  }
  state.lines_read =
      read_lines(part.lines, state.lines_read, unpacked_lines(instruction, lines_source),
                 part.begin_bytes + instruction.size_bytes);
  return state.lines_read == part.line_count;
}

std::size_t WorkerExecutor::read_lines(const Line* lines, std::size_t first_line,
                                       std::byte* destination, std::size_t size_bytes) const {
  const std::size_t word_count = (size_bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
  const std::size_t line_count = line_count_for(size_bytes);
  for (std::size_t l = first_line; l < line_count; ++l) {
    // Pairs with the releasing store of the tag in write_lines: the payload is this call's.
    if (lines[l].tag.load(std::memory_order_acquire) != line_tag_) return l;
    const std::size_t begin = l * Line::kWords;
    const std::size_t words_here = std::min(word_count - begin, Line::kWords);
    std::byte* words = destination + begin * sizeof(std::uint64_t);
    for (std::size_t w = 0; w < words_here; ++w) {
      const std::uint64_t word = lines[l].payload[w].load(std::memory_order_relaxed);
      std::memcpy(words + w * sizeof(word), &word, sizeof(word));
    }
  }
  return line_count;
}

}  // namespace hycoll
