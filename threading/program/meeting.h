#ifndef HYCOLL_THREADING_PROGRAM_MEETING_H_
#define HYCOLL_THREADING_PROGRAM_MEETING_H_

#include <cstddef>

#include "threading/program/pair_blocks.h"
#include "threading/program/program.h"

namespace hycoll {

// Programs of runs that are bound to no schedule: the workers of a node meet.

/// The worker does nothing but wait until all others have entered the run.
Program arrival_of_others(int worker, int worker_count);

/// The worker copies MemberBlocks, its input, to the begin of its staging, with room for their data
/// behind them if `has_data`, and waits until all others have: then each reads there, before its
/// next run, what it wants to know of them.
Program telling_others(int worker, int worker_count, int member_count, bool has_data);

/// Completes the blocks, and has such a program tell their data, too, if they take no more than so
/// many bytes; where there is no room for data 0.
void tell(MemberBlocks& blocks, std::size_t most_data_bytes, Program& program) noexcept;

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_MEETING_H_
