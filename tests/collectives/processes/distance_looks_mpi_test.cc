// What processes do follows how far they are from one another, while they run.

#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/calls/processes_member.h"
#include "collectives/job/process_group.h"
#include "collectives/node/distance_looks.h"
#include "collectives/node/node_processes.h"
#include "collectives/plans/plan_cache.h"
#include "tests/support/process_options.h"
#include "tests/support/seed.h"

namespace hycoll {
namespace distance_looks_mpi_test {

using Clock = std::chrono::steady_clock;

/// Through staging, in steps that are streamed where processes are far.
constexpr std::size_t kCount = 4000;
/// By the kernel where processes are near.
constexpr std::size_t kCopiedCount = 150'000;

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// What rank 0 says.
bool agreed(bool own) {
  int value = own ? 1 : 0;
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return value == 1;
}

TEST_CASE("processes change their ways together, with one look after the other") {
  JointSetup setup(MPI_COMM_WORLD);
  ProcessGroup group(setup, MPI_COMM_WORLD, tests::options_with(0), MpiCallers::user_only);
  NodeProcesses processes(group, ThreadNumbering::one_each(world_size()));
  PlanCache plans(processes.plan_options(group));
  ProcessesMember member(group, processes, plans, nullptr);
  DistanceLooks* const looks = processes.segment().looks();
  if (looks == nullptr) return;  // the processes have too few cores to look
  double probed_ns = 0;
  int look_count = 0;
  looks->set_probe([&] {
    ++look_count;
    return group.rank() == 0 ? 0 : probed_ns;  // who is late is told
  });
  /// Busy machines take long for a call.
  const auto call_until = [&](const std::function<bool()>& is_over) {
    const Clock::time_point end = Clock::now() + std::chrono::seconds(60);
    for (int call = 0; agreed(!is_over() && Clock::now() < end); ++call) {
      std::vector<std::int64_t> values(kCount, call + group.rank());
      member.run(calls::allreduce(values));
      const std::int64_t size = world_size();
      REQUIRE(values.front() == size * call + size * (size - 1) / 2);
      REQUIRE(values.back() == values.front());
      std::vector<std::int64_t> passed(kCopiedCount, group.rank() == 0 ? call : -1);
      member.run(calls::broadcast(passed, 0));
      REQUIRE(passed.front() == call);
      REQUIRE(passed.back() == call);
    }
  };
  const Clock::time_point begin = Clock::now();
  for (const double ns : {1000.0, 20.0, 1000.0}) {
    CAPTURE(ns);
    probed_ns = ns;
    const int before = look_count;
    call_until([&] { return processes.segment().handoff_ns() == ns; });
    CHECK(look_count == before + 1);
    CHECK(processes.segment().handoff_ns() == ns);
    CHECK(processes.memory().is_far() == (ns == 1000.0));
  }
  probed_ns = 0;
  const int before = look_count;
  call_until([&] { return look_count > before; });
  call_until([calls = 0]() mutable { return ++calls > 50; });
  CHECK(processes.segment().handoff_ns() == 1000.0);
  // Announced 50 ms apart; the first one may have been due at once.
  CHECK(Clock::now() - begin > std::chrono::milliseconds(125));
}

/// Calls of all kinds, as one process makes them.
class MixedCalls {
 public:
  MixedCalls(ProcessesMember& member, int rank, std::uint64_t seed)
      : member_(member), rank_(rank), shared_(seed) {}

  /// The next one, drawn alike by all: whether its result is right.
  bool make_next() {
    ++number_;
    constexpr std::size_t kCounts[] = {1, 100, 256, kCount, 30'000, kCopiedCount};
    const std::size_t count = kCounts[shared_() % std::size(kCounts)];
    const int root = static_cast<int>(shared_() % static_cast<unsigned>(world_size()));
    way_ = static_cast<Way>(shared_() % 3);
    switch (shared_() % 4) {
      case 0:
        return sums_are_right(count, root);
      case 1:
        return is_gathered(count, root);
      case 2:
        return is_dealt(count, root);
      default:
        return is_passed(count, root);
    }
  }

 private:
  enum class Way { blocking, nonblocking, persistent };

  void make(const Call& call) {
    if (way_ == Way::blocking) return member_.run(call);
    if (way_ == Way::nonblocking) return member_.start(call)->finish();
    member_.run(*member_.prepare(call));
  }

  std::int64_t value(int rank, std::size_t index) const {
    return 1'000'000 * number_ + 1000 * rank + static_cast<std::int64_t>(index % 999);
  }
  std::vector<std::int64_t> values_of(int rank, std::size_t count, std::size_t first = 0) const {
    std::vector<std::int64_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = value(rank, first + i);
    return values;
  }

  bool sums_are_right(std::size_t count, int root) {
    const std::vector<std::int64_t> own = values_of(rank_, count);
    std::vector<std::int64_t> sums(count, -1);
    make(calls::reduce(own, sums, Operator::sum, root));
    if (rank_ != root) return true;
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t sum = 0;
      for (int rank = 0; rank < world_size(); ++rank) sum += value(rank, i);
      if (sums[i] != sum) return false;
    }
    return true;
  }

  bool is_gathered(std::size_t count, int root) {
    const std::vector<std::int64_t> own = values_of(rank_, count);
    std::vector<std::int64_t> all(rank_ == root ? count * static_cast<std::size_t>(world_size())
                                                : 0);
    make(calls::gather(own.data(), all.data(), count, DataType::int64, root));
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] != value(static_cast<int>(i / count), i % count)) return false;
    }
    return true;
  }

  bool is_dealt(std::size_t count, int root) {
    std::vector<std::int64_t> all;
    if (rank_ == root) all = values_of(root, count * static_cast<std::size_t>(world_size()));
    std::vector<std::int64_t> own(count, -1);
    make(calls::scatter(all.data(), own.data(), count, DataType::int64, root));
    return own == values_of(root, count, count * static_cast<std::size_t>(rank_));
  }

  bool is_passed(std::size_t count, int root) {
    std::vector<std::int64_t> passed(count, -1);
    if (rank_ == root) passed = values_of(root, count);
    make(calls::broadcast(passed, root));
    return passed == values_of(root, count);
  }

  ProcessesMember& member_;
  int rank_;
  std::mt19937_64 shared_;  // the same on all
  Way way_ = Way::blocking;
  std::int64_t number_ = 0;
};

bool are_alike(const std::vector<double>& values) {
  std::vector<double> least = values;
  std::vector<double> most = values;
  const int count = static_cast<int>(values.size());
  MPI_Allreduce(values.data(), least.data(), count, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(values.data(), most.data(), count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return least == most;
}

TEST_CASE("calls of all kinds are right while the distance changes, and some processes are late") {
  JointSetup setup(MPI_COMM_WORLD);
  ProcessGroup group(setup, MPI_COMM_WORLD, tests::options_with(0), MpiCallers::user_only);
  NodeProcesses processes(group, ThreadNumbering::one_each(world_size()));
  PlanCache plans(processes.plan_options(group));
  ProcessesMember member(group, processes, plans, nullptr);
  DistanceLooks* const looks = processes.segment().looks();
  if (looks == nullptr) return;  // the processes have too few cores to look
  const std::uint64_t seed = tests::seed_offset();
  CAPTURE(seed);
  std::mt19937_64 own(seed * 16 + static_cast<std::uint64_t>(group.rank()));
  looks->set_interval({});
  looks->set_probe([&own] {
    constexpr double kSeen[] = {0, 20, 1000};
    return kSeen[own() % std::size(kSeen)];
  });
  MixedCalls calls(member, group.rank(), seed);
  std::vector<double> distances;  // by call, when it is over
  bool are_right = true;
  for (int call = 0; call < 1000; ++call) {
    if (own() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 200));
    are_right = calls.make_next() && are_right;
    distances.push_back(processes.segment().handoff_ns());
  }
  CHECK(are_right);
  CHECK(are_alike(distances));
  const auto changes = std::ranges::count_if(
      distances, [last = 0.0](double now) mutable { return std::exchange(last, now) != now; });
  CHECK(changes > 20);
}

}  // namespace distance_looks_mpi_test
}  // namespace hycoll
