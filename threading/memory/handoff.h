#ifndef HYCOLL_THREADING_MEMORY_HANDOFF_H_
#define HYCOLL_THREADING_MEMORY_HANDOFF_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/base/cache_lines.h"

namespace hycoll {

/// What two workers pass to and fro to measure how far apart their cores are. In memory that both
/// reach, their own process's or a segment's; it holds no pointer.
struct HandoffBall {
  /// Even numbers lie on the first one's side, odd ones on the second's.
  alignas(kSeparationBytes) std::atomic<std::uint32_t> turn{0};
  alignas(kSeparationBytes) std::atomic<bool> given_up{false};  ///< By either side, for good.
};

enum class HandoffSide { first, second };

struct HandoffRounds {
  int batches = 5;  ///< That count; another one before them waits for the other side to come.
  std::uint32_t round_trips_per_batch = 20;
};

/// The time in nanoseconds in which a cache line written by one worker is seen by the other, half a
/// round trip, of each batch; called by one thread for each side, at about the same time, with a
/// new ball and the same rounds. Empty on a side that has waited longer than `patience` in all, or
/// when the other one has given up. Both spin meanwhile: not for workers that share a core.
std::vector<double> measure_handoff(HandoffBall& ball, HandoffSide side,
                                    const HandoffRounds& rounds, std::chrono::nanoseconds patience);

/// Makes a ball as good as new. By its owner, when no side uses it, or will without waiting in
/// vain.
void reset(HandoffBall& ball) noexcept;

/// Tells the other side, which may wait, that this one does not take part.
void give_up(HandoffBall& ball) noexcept;

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_HANDOFF_H_
