// What processes do follows how far they are from one another, while they run.

#include <doctest/doctest.h>
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/calls/node_process_member.h"
#include "collectives/plans/plan_cache.h"
#include "collectives/processes/distance_looks.h"
#include "collectives/processes/node_processes.h"
#include "collectives/processes/process_group.h"
#include "tests/support/process_options.h"

namespace hycoll {
namespace {

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
  NodeProcessMember member(group, processes, plans, nullptr);
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

}  // namespace
}  // namespace hycoll
