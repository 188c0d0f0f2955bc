#ifndef HYCOLL_THREADING_PROGRAM_REPEATED_SIGNALS_H_
#define HYCOLL_THREADING_PROGRAM_REPEATED_SIGNALS_H_

#include <span>

#include "threading/program/program.h"

namespace hycoll {

// A flag only grows, and whoever waits for it is content with more. A signal that its strand
// repeats before it can be held up itself may so be left out: nobody waits for ever. It is left out
// where what it tells of takes less time than the transfers of its cache line, one for each worker
// that looks at it. (docs/decisions/0072-signals-that-say-little-are-left-out.md)

/// Finds the signals that strands repeat (Instruction::is_repeated,
/// StrandProgram::repeats_signals).
void note_repeated_signals(std::span<Program> programs) noexcept;

/// Leaves out those that may be, by the lengths that the strand's instructions have now.
void leave_out_signals(StrandProgram& strand) noexcept;

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_REPEATED_SIGNALS_H_
