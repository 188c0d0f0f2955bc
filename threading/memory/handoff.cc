#include "threading/memory/handoff.h"

namespace hycoll {
namespace {

using Clock = std::chrono::steady_clock;

/// Beyond the turn itself a side looks this seldom, so that it does not count.
constexpr std::uint32_t kLooksPerCheck = 4096;

/// Returns false if either side has given up.
bool wait_for(HandoffBall& ball, std::uint32_t turn, Clock::time_point deadline) {
  // Pairs with the other side's release store; only the number itself is passed.
  for (std::uint32_t looks = 1; ball.turn.load(std::memory_order_acquire) != turn; ++looks) {
    if (looks % kLooksPerCheck != 0) continue;
    // Nothing else is passed: any order would do.
    if (ball.given_up.load(std::memory_order_relaxed)) return false;
    if (Clock::now() > deadline) {
      give_up(ball);
      return false;
    }
  }
  return true;
}

}  // namespace

void reset(HandoffBall& ball) noexcept {
  // Whoever uses it next has synchronised with the owner since.
  ball.turn.store(0, std::memory_order_relaxed);
  ball.given_up.store(false, std::memory_order_relaxed);
}

void give_up(HandoffBall& ball) noexcept { ball.given_up.store(true, std::memory_order_relaxed); }

std::vector<double> measure_handoff(HandoffBall& ball, HandoffSide side,
                                    const HandoffRounds& rounds,
                                    std::chrono::nanoseconds patience) {
  const Clock::time_point deadline = Clock::now() + patience;
  const std::uint32_t own = side == HandoffSide::first ? 1 : 2;
  std::vector<double> one_way_ns;
  std::uint32_t turn = 0;
  for (int batch = 0; batch <= rounds.batches; ++batch) {
    const Clock::time_point start = Clock::now();
    for (std::uint32_t i = 0; i < rounds.round_trips_per_batch; ++i, turn += 2) {
      if (side == HandoffSide::second && !wait_for(ball, turn + 1, deadline)) return {};
      ball.turn.store(turn + own, std::memory_order_release);  // pairs with wait_for's load
      if (side == HandoffSide::first && !wait_for(ball, turn + 2, deadline)) return {};
    }
    const std::chrono::duration<double, std::nano> time = Clock::now() - start;
    if (batch > 0) one_way_ns.push_back(time.count() / (2.0 * rounds.round_trips_per_batch));
  }
  return one_way_ns;
}

}  // namespace hycoll
