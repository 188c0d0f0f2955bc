// Who works on what is handed out as tasks of oneTBB's.

#include "threading/execution/task_kernels.h"

#include <doctest/doctest.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "numa/topology/topology.h"
#include "threading/execution/task_arena.h"

namespace hycoll {
namespace {

constexpr int kHelpers = 7;

/// Lets there be helpers, however few cores there are.
class EnoughThreads {
 private:
  tbb::global_control threads_{tbb::global_control::max_allowed_parallelism, kHelpers + 1};
};

/// Adds two vectors of bytes, and notes who does so.
class AddingReducer final : public ForeignReducer {
 public:
  explicit AddingReducer(bool runs_anywhere) : runs_anywhere_(runs_anywhere) {}

  bool runs_anywhere() const noexcept override { return runs_anywhere_; }

  void reduce(std::span<void* const> destinations, std::span<const void* const> sources,
              std::size_t count) const override {
    const auto* const left = static_cast<const std::uint8_t*>(sources[0]);
    const auto* const right = static_cast<const std::uint8_t*>(sources[1]);
    auto* const sum = static_cast<std::uint8_t*>(destinations[0]);
    for (std::size_t i = 0; i < count; ++i) sum[i] = static_cast<std::uint8_t>(left[i] + right[i]);
    const std::lock_guard lock(mutex_);
    ++calls_;
    threads_.insert(std::this_thread::get_id());
  }

  int calls() const { return calls_; }
  const std::set<std::thread::id>& threads() const { return threads_; }

 private:
  bool runs_anywhere_;
  mutable std::mutex mutex_;
  mutable int calls_ = 0;                      // guarded by mutex_
  mutable std::set<std::thread::id> threads_;  // the same
};

/// Reduces so many parts.
void reduce(const AddingReducer& reducer, std::size_t parts) {
  const std::size_t count = parts * 128 * 1024;
  std::vector<std::uint8_t> left(count);
  std::vector<std::uint8_t> right(count);
  for (std::size_t i = 0; i < count; ++i) {
    left[i] = static_cast<std::uint8_t>(i);
    right[i] = static_cast<std::uint8_t>(i / 251);
  }
  std::vector<std::uint8_t> sum(count, 0x55);
  const std::array<void* const, 1> destinations{sum.data()};
  const std::array<const void* const, 2> sources{left.data(), right.data()};
  const TaskKernels kernels(Topology::this_machine(), kHelpers, -1);
  kernels.reduce({.foreign = &reducer}, destinations, sources, count, 1, Stores::cached);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (sum[i] != static_cast<std::uint8_t>(left[i] + right[i])) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("an operator that belongs to the threads of the call is called by no other") {
  const EnoughThreads threads;
  const AddingReducer bound(false);
  reduce(bound, 64);
  CHECK(bound.calls() == 1);
  CHECK(bound.threads() == std::set{std::this_thread::get_id()});
  const AddingReducer free(true);
  reduce(free, 64);
  CHECK(free.calls() == 64);
}

TEST_CASE("a part that waits for tasks of its own is not entered again on its thread") {
  const EnoughThreads threads;
  const TaskArena arena(Topology::this_machine(), kHelpers, -1);
  std::atomic<int> reentries{0};
  arena.run(1000, [&](std::size_t) {
    thread_local int depth = 0;
    if (++depth > 1) ++reentries;
    // One of them is often taken by another thread, and waited for.
    const auto work = [](int) { std::this_thread::sleep_for(std::chrono::microseconds(300)); };
    tbb::parallel_for(0, 2, work, tbb::simple_partitioner{});
    --depth;
  });
  CHECK(reentries == 0);
}

}  // namespace
}  // namespace hycoll
