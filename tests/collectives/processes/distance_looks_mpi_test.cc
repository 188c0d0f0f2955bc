// How processes store into staging follows how far they are from one another, while they run.

#include <doctest/doctest.h>
#include <mpi.h>

#include <chrono>
#include <cstdint>
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

TEST_CASE("stores into staging follow the distance, with a look a second at most") {
  ProcessGroup group(MPI_COMM_WORLD, tests::options_with(0), MpiCallers::user_only);
  NodeProcesses processes(group, ThreadNumbering::one_each(world_size()));
  PlanCache plans(processes.plan_options(group));
  NodeProcessMember member(group, processes, plans, nullptr);
  DistanceLooks* const looks = processes.segment().looks();
  if (looks == nullptr) return;  // the processes have too few cores to look
  const bool is_agreed_far = processes.memory().is_far();
  double probed_ns = 0;
  int look_count = 0;
  looks->set_probe([&] {
    ++look_count;
    return probed_ns;
  });
  /// All look before the same call. Busy machines take long for a call.
  const auto call_until_all_look = [&] {
    const int before = look_count;
    const Clock::time_point end = Clock::now() + std::chrono::seconds(60);
    for (int call = 0; agreed(look_count == before && Clock::now() < end); ++call) {
      std::vector<std::int64_t> values(kCount, call + group.rank());
      member.run(calls::allreduce(values));
      const std::int64_t size = world_size();
      REQUIRE(values.front() == size * call + size * (size - 1) / 2);
      REQUIRE(values.back() == values.front());
    }
  };
  const Clock::time_point begin = Clock::now();
  for (const double ns : {1000.0, 20.0, 1000.0, 0.0}) {
    CAPTURE(ns);
    probed_ns = ns;
    const int before = look_count;
    call_until_all_look();
    CHECK(look_count == before + 1);
    CHECK(processes.memory().streams_staging() == (ns != 20.0));  // 0: nobody was there
    CHECK(processes.memory().is_far() == is_agreed_far);
  }
  // Announced a second apart; the first one may have been due at once.
  CHECK(Clock::now() - begin > std::chrono::milliseconds(2500));
}

}  // namespace
}  // namespace hycoll
