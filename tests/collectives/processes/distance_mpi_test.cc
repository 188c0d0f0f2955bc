// Processes that could not find out how far they are from one another try again.

#include <doctest/doctest.h>
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "collectives/calls/node_process_member.h"
#include "collectives/plans/plan_cache.h"
#include "collectives/processes/node_processes.h"
#include "collectives/processes/process_group.h"
#include "tests/support/process_options.h"

namespace hycoll {
namespace {

/// Through staging, in steps that are streamed where processes are far.
constexpr std::size_t kCount = 4000;
/// Attempts follow the 64th, the 1,024th, ... of these calls.
constexpr int kCalls = 1100;

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

bool is_the_same_everywhere(double value) {
  double least = 0;
  double most = 0;
  MPI_Allreduce(&value, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return least == most;
}

TEST_CASE("a distance that is not known is measured again, between calls that are right") {
  ProcessGroup group(MPI_COMM_WORLD, tests::options_with(0), MpiCallers::user_only);
  NodeProcesses processes(group, ThreadNumbering::one_each(world_size()));
  PlanCache plans(processes.plan_options(group));
  NodeProcessMember member(group, processes, plans, nullptr);
  // As if a partner had been late; and, far, all steps are streamed from here on.
  for (const double distance : {0.0, 1000.0}) {
    processes.segment().set_distance(distance);
    const bool may_measure = processes.lacks_distance();
    CHECK((distance == 0 || !may_measure));
    int calls_without = 0;
    for (int call = 0; call < kCalls; ++call) {
      std::vector<std::int64_t> values(kCount, call + group.rank());
      member.run(calls::allreduce(values));
      const std::int64_t size = world_size();
      REQUIRE(values.front() == size * call + size * (size - 1) / 2);
      REQUIRE(values.back() == values.front());
      if (processes.segment().handoff_ns() == 0) ++calls_without;
    }
    CHECK(is_the_same_everywhere(processes.segment().handoff_ns()));
    if (distance > 0) {
      CHECK(processes.segment().handoff_ns() == distance);
    } else if (may_measure) {
      // Not earlier than after the 64th call; partners may be late again.
      CHECK(calls_without >= 64);
    } else {
      CHECK(calls_without == kCalls);
    }
  }
}

}  // namespace
}  // namespace hycoll
