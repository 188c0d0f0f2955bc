#include "tools/measure/core_latency.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <thread>
#include <vector>

#include "core/base/errors.h"
#include "numa/placement/binding.h"
#include "threading/memory/handoff.h"
#include "tools/measure/statistics.h"

namespace hycoll::measure {
namespace {

/// Beyond any delay: a side that cannot come says so.
constexpr std::chrono::hours kPatience{1};

/// One side, bound to its core.
std::thread play(const Topology& topology, const Core& core, HandoffBall& ball, HandoffSide side,
                 const HandoffRounds& rounds, std::vector<double>& one_way_ns,
                 std::exception_ptr& failure) {
  return std::thread([&, core, side] {
    try {
      bind_this_thread(topology, core);
      one_way_ns = measure_handoff(ball, side, rounds, kPatience);
    } catch (...) {
      failure = std::current_exception();
      give_up(ball);
    }
  });
}

}  // namespace

double core_latency_ns(const Topology& topology, const Core& a, const Core& b,
                       const HandoffRounds& rounds) {
  if (a.os_index == b.os_index) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("cores: {} and {} given, two different ones expected. A latency needs "
                            "two cores",
                            a.os_index, b.os_index));
  }
  HandoffBall ball;
  std::vector<double> one_way_ns[2];
  std::exception_ptr failures[2];
  std::thread second =
      play(topology, b, ball, HandoffSide::second, rounds, one_way_ns[1], failures[1]);
  std::thread first =
      play(topology, a, ball, HandoffSide::first, rounds, one_way_ns[0], failures[0]);
  first.join();
  second.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return median(one_way_ns[0]);
}

}  // namespace hycoll::measure
