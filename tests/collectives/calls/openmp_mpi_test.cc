// Teams in parallel regions of OpenMP: threads that it has bound stay where they are, others are
// bound; regions that are too small are refused.
#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>
#include <omp.h>

#include <atomic>
#include <thread>

#include "numa/placement/binding.h"
#include "numa/topology/topology.h"

namespace hycoll {
namespace {

TEST_CASE("OpenMP's binding stays") {
  const Topology topology = Topology::this_machine();
  // Started with OMP_PROC_BIND and places in an order that hycoll would not take.
  if (omp_get_proc_bind() == omp_proc_bind_false || omp_get_num_places() < 2) {
    MESSAGE("skipped: this machine does not let OpenMP bind two threads");
    return;
  }
  Team team(MPI_COMM_WORLD, 2);
  std::atomic<int> changed = 0;
  std::atomic<int> wrong = 0;
  for (int region = 0; region < 2; ++region) {
#pragma omp parallel num_threads(2)
    {
      const AffinityMask before = this_thread_affinity(topology);
      Member member = team.join(omp_get_thread_num());
      changed += this_thread_affinity(topology) == before ? 0 : 1;
      wrong += member.allreduce(1) == member.size() ? 0 : 1;
    }
  }
  CHECK(changed == 0);
  CHECK(wrong == 0);
}

/// What join() says to each thread of a region in which each of so many threads opens another one.
int refusals(Team& team, int outer, int inner) {
  std::atomic<int> refused = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(outer)
#pragma omp parallel num_threads(inner)
  {
    try {
      team.join(0);
    } catch (const Error& error) {
      refused += error.kind() == ErrorKind::invalid_argument ? 1 : 100;
    }
  }
  return refused;
}

TEST_CASE("regions with fewer threads than the team are refused") {
  Options options = Options::from_environment();
  options.pinning = Options::Pinning::unpinned;
  Team team(MPI_COMM_WORLD, 4, options);
  CHECK(refusals(team, 1, 1) == 1);
  CHECK(refusals(team, 3, 1) == 3);
  CHECK(refusals(team, 1, 3) == 3);
  CHECK(refusals(team, 4, 1) == 0);
  CHECK(refusals(team, 2, 2) == 0);
  team.join(0);  // in no region
}

TEST_CASE("threads that a program makes itself are bound, whatever they inherit") {
  const Topology topology = Topology::this_machine();
  Team team(MPI_COMM_WORLD, 2);
  AffinityMask bound[2];
  const auto work = [&](int index) {
    Member member = team.join(index);
    bound[index] = this_thread_affinity(topology);
    CHECK(member.allreduce(1) == member.size());
  };
  std::thread other(work, 1);
  std::thread first(work, 0);
  first.join();
  other.join();
  CHECK(bound[0].count() == 1);
  // Processes share the machine's cores.
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (topology.usable_core_count() >= 2 * size) CHECK(bound[0] != bound[1]);
}

}  // namespace
}  // namespace hycoll
