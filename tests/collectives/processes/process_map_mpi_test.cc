// Who shares a machine: asked of the processes, and known from MPI_COMM_WORLD.

#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "collectives/job/process_map.h"
#include "numa/topology/topology.h"

namespace hycoll {
namespace process_map_mpi_test {

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

int size_of(MPI_Comm communicator) {
  int size = 1;
  MPI_Comm_size(communicator, &size);
  return size;
}

/// Two processes share a machine in both maps, or in none. (The numbers themselves may differ.)
bool same_machines(const ProcessMap& left, const ProcessMap& right) {
  const RankMap& a = left.machines();
  const RankMap& b = right.machines();
  if (a.size() != b.size()) return false;
  for (int i = 0; i < a.size(); ++i) {
    for (int j = 0; j < a.size(); ++j) {
      if ((a.at(i) == a.at(j)) != (b.at(i) == b.at(j))) return false;
    }
  }
  return true;
}

ProcessMap map_of(MPI_Comm communicator) {
  JointSetup setup(communicator);
  return ProcessMap::of(setup, communicator);
}

TEST_CASE("what is known from the world is what asking tells") {
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm halves = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
  const std::vector<MPI_Comm> communicators = {MPI_COMM_WORLD, reversed, halves, MPI_COMM_SELF};
  std::vector<ProcessMap> asked;
  for (const MPI_Comm communicator : communicators) asked.push_back(map_of(communicator));
  ProcessMap::explore_world();
  ProcessMap::explore_world();
  for (std::size_t c = 0; c < communicators.size(); ++c) {
    CAPTURE(c);
    const ProcessMap known = map_of(communicators[c]);
    const int size = size_of(communicators[c]);
    CHECK(known.machines().size() == size);
    CHECK(same_machines(asked[c], known));
    for (int i = 0; i < size; ++i) CHECK(asked[c].name(i, i + 1) == known.name(i, i + 1));
    CHECK(known.name(size - 1, 7).starts_with("process 7 on host "));
    // The launcher has started all of them on this machine.
    CHECK(known.has_neighbours() == (size > 1));
    CHECK(asked[c].has_neighbours() == (size > 1));
    CHECK(known.is_one_machine());
    CHECK(asked[c].is_one_machine());
  }
  MPI_Comm_free(&halves);
  MPI_Comm_free(&reversed);
}

TEST_CASE("a machine is shared with all processes of the world") {
  ProcessMap::explore_world();
  const ProcessMap world = map_of(MPI_COMM_WORLD);
  const ProcessMap self = map_of(MPI_COMM_SELF);
  const MachineShare& of_world = world.share();
  const MachineShare& of_self = self.share();
  CHECK(of_self.topology.affinity() == of_world.topology.affinity());
  CHECK(of_self.cores_are_shared == of_world.cores_are_shared);
}

/// By rank: the processing unit that the launcher has bound each process to, or -1.
std::vector<int> bound_units(const Topology& own) {
  const std::vector<int> units = own.affinity().processing_units();
  const int unit = units.size() == 1 ? units.front() : -1;
  std::vector<int> all(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
  MPI_Allgather(&unit, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return all;
}

TEST_CASE("cores are shared where there are fewer than processes, however these are bound") {
  const Topology own = Topology::this_machine();
  const std::vector<int> units = bound_units(own);
  const int unit = units[static_cast<std::size_t>(rank_in(MPI_COMM_WORLD))];
  const std::optional<double> quota = own.limits().quota_cores;
  const bool is_throttled = quota && size_of(MPI_COMM_WORLD) > std::max(1.0, std::floor(*quota));
  const bool is_crowded =
      unit >= 0 ? std::ranges::count(units, unit) > 1 : size_of(MPI_COMM_WORLD) > own.core_count();
  const ProcessMap map = map_of(MPI_COMM_WORLD);
  CHECK(map.share().cores_are_shared == (is_throttled || is_crowded));
  using Waiting = Options::Waiting;
  using Rest = WaitPolicy::Rest;
  const auto rest_of = [&](int worker_count, Waiting waiting) {
    return map.share().wait_policy(worker_count, waiting).rest;
  };
  CHECK(rest_of(1, Waiting::automatic) == (is_throttled || is_crowded ? Rest::naps : Rest::seldom));
  CHECK(rest_of(own.core_count() + 1, Waiting::automatic) == Rest::naps);
  CHECK(rest_of(own.core_count() + 1, Waiting::spin) == Rest::seldom);
  CHECK(rest_of(1, Waiting::yield) == Rest::naps);
  CHECK(rest_of(1, Waiting::sleep) == Rest::sleep);
}

}  // namespace process_map_mpi_test
}  // namespace hycoll
