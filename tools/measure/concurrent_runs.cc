#include "tools/measure/concurrent_runs.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <limits>
#include <thread>

#include "core/base/errors.h"
#include "numa/placement/binding.h"
#include "threading/memory/waiter.h"

namespace hycoll::measure {
namespace {

constexpr int kMostTimes = 1 << 20;

/// That this thread has run.
double running_seconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

ConcurrentRuns::ConcurrentRuns(MPI_Comm comm, const Topology& topology, std::span<const Core> cores)
    : comm_(comm), topology_(&topology), cores_(cores.begin(), cores.end()) {}

RunTime ConcurrentRuns::run(const Work& work, int thread_count, int times) const {
  using Clock = std::chrono::steady_clock;
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  Clock::time_point start;  // written before `go` is
  std::vector<double> running(static_cast<std::size_t>(thread_count));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        bind_this_thread(*topology_, cores_[static_cast<std::size_t>(thread)]);
      } catch (const Error&) {
        // A container may forbid binding.
      }
      ready.fetch_add(1, std::memory_order_relaxed);  // a mere count
      Waiter waiter{WaitPolicy{}};
      while (!go.load(std::memory_order_acquire)) {  // pairs with the store below
        if (waiter.turn()) waiter.give_way();
      }
      const double before = running_seconds();
      work(thread, times);
      const double ran = running_seconds() - before;
      // Also what passed until it came to know that it may begin.
      const std::chrono::duration<double> took = Clock::now() - start;
      running[static_cast<std::size_t>(thread)] = took.count() > 0 ? ran / took.count() : 1;
    });
  }
  Waiter waiter{WaitPolicy{}};
  while (ready.load(std::memory_order_relaxed) < thread_count) {
    if (waiter.turn()) waiter.give_way();
  }
  if (comm_ != MPI_COMM_NULL) MPI_Barrier(comm_);
  start = Clock::now();
  go.store(true, std::memory_order_release);  // pairs with the threads' load
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = Clock::now() - start;
  // The longest and, negated, the shortest time of a process with threads, and the least part.
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  std::array<double, 3> extremes = {took.count(), thread_count > 0 ? -took.count() : kNone, -1};
  for (const double part : running) extremes[2] = std::max(extremes[2], -part);
  if (comm_ != MPI_COMM_NULL) {
    MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 3, MPI_DOUBLE, MPI_MAX, comm_);
  }
  const auto [longest, shortest, least] = extremes;
  return {.seconds = longest, .running = std::min({1.0, -least, -shortest / longest})};
}

int ConcurrentRuns::times_for(const Work& work, int threads, double seconds, int least) const {
  for (int times = least;; times *= 2) {
    const RunTime time = run(work, threads, times);
    // What other programs hold up only seems long.
    if (time.seconds * time.running >= seconds || times >= kMostTimes) return times;
  }
}

}  // namespace hycoll::measure
