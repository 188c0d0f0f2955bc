#ifndef HYCOLL_THREADING_PROGRAM_MEETING_H_
#define HYCOLL_THREADING_PROGRAM_MEETING_H_

#include <cstddef>

#include "threading/program/pair_blocks.h"
#include "threading/program/program.h"

namespace hycoll {

// Programs of runs that are bound to no schedule: the workers of a node meet.

/// The worker does nothing but wait until all others have entered the run.
Program arrival_of_others(int worker, int worker_count);

/// What members tell in staging.
struct ToldBytes {
  std::size_t blocks = 0;     ///< MemberBlocks::bytes_for.
  std::size_t most_data = 0;  ///< Of a row, behind them; 0: there is no room.
};

/// The worker copies MemberBlocks to the begin of its staging, with room for their data behind
/// them, and waits until all others have: then each reads there, before its next run, what it wants
/// to know of them. The same bytes on all workers.
Program telling_others(int worker, int worker_count, int member_count, const ToldBytes& bytes);

/// Completes the blocks, and has such a program tell them, and their data, too, if there is room.
/// They count from `origin`, the worker's input. Stored into the caches, wherever the others are:
/// what is told is short, and read at once.
void tell(MemberBlocks& blocks, const std::byte* origin, const ToldBytes& bytes,
          Program& program) noexcept;

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_MEETING_H_
