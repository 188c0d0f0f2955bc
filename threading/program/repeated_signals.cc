#include "threading/program/repeated_signals.h"

#include <cstddef>
#include <ranges>

namespace hycoll {
namespace {

/// So much has to have been written since the last signal (docs/measurements.md, "Sixteen cores").
constexpr std::size_t kWorthSignalling = std::size_t{4} << 10;

bool is_signal(const Instruction& instruction) {
  return instruction.kind == InstructionKind::signal ||
         instruction.kind == InstructionKind::left_out;
}

/// Whether a worker is through with it at once, whatever others do.
bool never_waits(const Instruction& instruction) {
  if (instruction.dependency_count > 0 || instruction.lines_source_count > 0) return false;
  switch (instruction.kind) {
    case InstructionKind::reduce:
    case InstructionKind::copy:
    case InstructionKind::write_lines:
    case InstructionKind::signal:
    case InstructionKind::left_out:
      return true;
    default:
      return false;
  }
}

void find_repeated(StrandProgram& strand) noexcept {
  strand.repeats_signals = false;
  int coming = -1;  // the flag that is raised next, before anything that may wait
  for (Instruction& instruction : std::views::reverse(strand.instructions)) {
    instruction.is_repeated = is_signal(instruction) && instruction.cell == coming;
    strand.repeats_signals |= instruction.is_repeated;
    if (!never_waits(instruction)) {
      coming = -1;
    } else if (is_signal(instruction)) {
      coming = instruction.cell;
    }
  }
}

}  // namespace

void note_repeated_signals(std::span<Program> programs) noexcept {
  for (Program& program : programs) {
    for (StrandProgram& strand : program.strands) find_repeated(strand);
  }
}

void leave_out_signals(StrandProgram& strand) noexcept {
  if (!strand.repeats_signals) return;
  std::size_t told_bytes = 0;
  for (Instruction& instruction : strand.instructions) {
    told_bytes += instruction.size_bytes;
    if (!is_signal(instruction)) continue;
    const bool is_left_out = instruction.is_repeated && told_bytes < kWorthSignalling;
    instruction.kind = is_left_out ? InstructionKind::left_out : InstructionKind::signal;
    if (!is_left_out) told_bytes = 0;
  }
}

}  // namespace hycoll
