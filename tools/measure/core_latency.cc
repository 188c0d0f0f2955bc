#include "tools/measure/core_latency.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "core/errors.h"
#include "numa/binding.h"
#include "tools/measure/statistics.h"

namespace hycoll::measure {
namespace {

constexpr int kBatches = 21;
constexpr std::uint32_t kRoundTripsPerBatch = 400;
constexpr std::uint32_t kGivenUp = UINT32_MAX;

/// The ball: even numbers lie on the first core's side, odd ones on the second's. A line of its own
/// and no neighbour that the prefetcher would bring along.
struct alignas(256) Ball {
  std::atomic<std::uint32_t> turn{0};
};

/// Returns false if the other side has given up.
bool wait_for(const Ball& ball, std::uint32_t turn) {
  for (;;) {
    // Pairs with the other side's release store; only the number itself is passed.
    const std::uint32_t seen = ball.turn.load(std::memory_order_acquire);
    if (seen == turn) return true;
    if (seen == kGivenUp) return false;
  }
}

void return_every_ball(Ball& ball, std::uint32_t round_trips) {
  for (std::uint32_t i = 0; i < round_trips; ++i) {
    if (!wait_for(ball, 2 * i + 1)) return;
    ball.turn.store(2 * i + 2, std::memory_order_release);  // pairs with wait_for's load
  }
}

std::vector<double> play(Ball& ball) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> one_way_ns;
  std::uint32_t turn = 0;
  for (int batch = 0; batch <= kBatches; ++batch) {
    const Clock::time_point start = Clock::now();
    for (std::uint32_t i = 0; i < kRoundTripsPerBatch; ++i) {
      ball.turn.store(turn + 1, std::memory_order_release);  // pairs with wait_for's load
      if (!wait_for(ball, turn + 2)) return {};
      turn += 2;
    }
    const std::chrono::duration<double, std::nano> time = Clock::now() - start;
    // The first batch waits for the other thread to start.
    if (batch > 0) one_way_ns.push_back(time.count() / (2.0 * kRoundTripsPerBatch));
  }
  return one_way_ns;
}

/// Runs `body` bound to a core; when it throws, tells the other side.
template <class Body>
std::thread run_on(const Topology& topology, const Core& core, Ball& ball,
                   std::exception_ptr& failure, Body body) {
  return std::thread([&topology, core, &ball, &failure, body] {
    try {
      bind_this_thread(topology, core);
      body();
    } catch (...) {
      failure = std::current_exception();
      ball.turn.store(kGivenUp, std::memory_order_release);  // pairs with wait_for's load
    }
  });
}

}  // namespace

double core_latency_ns(const Topology& topology, const Core& a, const Core& b) {
  if (a.os_index == b.os_index) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("cores: {} and {} given, two different ones expected. A latency needs "
                            "two cores",
                            a.os_index, b.os_index));
  }
  Ball ball;
  std::vector<double> one_way_ns;
  std::exception_ptr failures[2];
  std::thread second = run_on(topology, b, ball, failures[1], [&ball] {
    return_every_ball(ball, (kBatches + 1) * kRoundTripsPerBatch);
  });
  std::thread first =
      run_on(topology, a, ball, failures[0], [&ball, &one_way_ns] { one_way_ns = play(ball); });
  first.join();
  second.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return median(one_way_ns);
}

}  // namespace hycoll::measure
