#ifndef HYCOLL_COLLECTIVES_RUNS_PIECES_H_
#define HYCOLL_COLLECTIVES_RUNS_PIECES_H_

#include <cstddef>

#include "threading/memory/node_memory.h"
#include "threading/transport/endpoint.h"

namespace hycoll {

/// What is packed at once, and the longest data that are packed whole. Long enough for every
/// algorithm to work at full speed.
inline constexpr std::size_t kPieceBytes = std::size_t{8} << 20;

/// Numbers of calls that all members leave unused must be so many, or twice, three times, ... as
/// many: what is kept for several calls is kept by their numbers, modulo this.
inline constexpr std::size_t kNumberPeriod = kCallSets;
static_assert(kNumberPeriod % kTagEpochs == 0);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_PIECES_H_
