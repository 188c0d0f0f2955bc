#include "threading/memory/handoff.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace hycoll {
namespace handoff_test {

using namespace std::chrono_literals;

TEST_CASE("both sides measure every batch") {
  for (const HandoffRounds& rounds :
       {HandoffRounds{}, HandoffRounds{.batches = 1, .round_trips_per_batch = 1},
        HandoffRounds{.batches = 7, .round_trips_per_batch = 300}}) {
    HandoffBall ball;
    std::vector<double> second;
    std::thread other([&] { second = measure_handoff(ball, HandoffSide::second, rounds, 1h); });
    const std::vector<double> first = measure_handoff(ball, HandoffSide::first, rounds, 1h);
    other.join();
    CHECK(first.size() == static_cast<std::size_t>(rounds.batches));
    CHECK(second.size() == first.size());
    for (const double ns : first) CHECK(ns > 0);
    for (const double ns : second) CHECK(ns > 0);
  }
}

TEST_CASE("a side that is alone gives up, and so does one that comes after it") {
  for (const HandoffSide side : {HandoffSide::first, HandoffSide::second}) {
    const HandoffSide late = side == HandoffSide::first ? HandoffSide::second : HandoffSide::first;
    HandoffBall ball;
    CHECK(measure_handoff(ball, side, HandoffRounds{}, 1ms).empty());
    CHECK(measure_handoff(ball, late, HandoffRounds{}, 1h).empty());
  }
}

TEST_CASE("a ball that is made ready again is as good as new") {
  HandoffBall ball;
  give_up(ball);
  for (int time = 0; time < 3; ++time) {
    reset(ball);
    std::thread other([&] { measure_handoff(ball, HandoffSide::second, HandoffRounds{}, 1h); });
    CHECK_FALSE(measure_handoff(ball, HandoffSide::first, HandoffRounds{}, 1h).empty());
    other.join();
  }
}

TEST_CASE("a side that cannot come tells the one that waits") {
  HandoffBall ball;
  std::thread other([&] { give_up(ball); });
  CHECK(measure_handoff(ball, HandoffSide::second, HandoffRounds{}, 1h).empty());
  other.join();
}

}  // namespace handoff_test
}  // namespace hycoll
