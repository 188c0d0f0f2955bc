#ifndef HYCOLL_THREADING_PROGRAM_MEETING_H_
#define HYCOLL_THREADING_PROGRAM_MEETING_H_

#include <cstddef>

#include "threading/program/program.h"

namespace hycoll {

// Programs of runs that move no data of the members': they are bound to no schedule.

/// The worker does nothing but wait until all others have entered the run.
Program arrival_of_others(int worker, int worker_count);

/// The worker copies its input, of so many bytes, to the begin of its staging, and waits until all
/// others have: then each reads there, before its next run, what it wants to know of them.
Program telling_others(int worker, int worker_count, std::size_t size_bytes);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_MEETING_H_
