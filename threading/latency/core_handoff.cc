#include "threading/latency/core_handoff.h"

#include <exception>
#include <thread>

#include "numa/placement/binding.h"

namespace hycoll {
namespace {

/// One side, bound to its core.
std::thread play(const Topology& topology, const Core& core, HandoffBall& ball, HandoffSide side,
                 const HandoffRounds& rounds, std::chrono::nanoseconds patience,
                 std::vector<double>& one_way_ns, std::exception_ptr& failure) {
  return std::thread([&, core, side, patience] {
    try {
      bind_this_thread(topology, core);
      one_way_ns = measure_handoff(ball, side, rounds, patience);
    } catch (...) {
      failure = std::current_exception();
      give_up(ball);
    }
  });
}

}  // namespace

std::vector<double> measure_core_handoff(const Topology& topology, const Core& a, const Core& b,
                                         const HandoffRounds& rounds,
                                         std::chrono::nanoseconds patience) {
  HandoffBall ball;
  std::vector<double> one_way_ns[2];
  std::exception_ptr failures[2];
  std::thread second =
      play(topology, b, ball, HandoffSide::second, rounds, patience, one_way_ns[1], failures[1]);
  std::thread first =
      play(topology, a, ball, HandoffSide::first, rounds, patience, one_way_ns[0], failures[0]);
  first.join();
  second.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return one_way_ns[0];
}

}  // namespace hycoll
