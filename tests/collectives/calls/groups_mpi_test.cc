// Short calls among many members of a node, along the tree of groups given by hand: threads and
// processes, on one node and on several.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "tests/support/call_sweeps.h"
#include "tests/support/process_options.h"
#include "tests/support/world.h"

namespace hycoll::tests {
namespace {

constexpr const char* kTrees =
    "allreduce:lines-tree-recursive-doubling,reduce:lines-tree-binomial,"
    "broadcast:lines-tree-binomial";
/// More than lines have sets.
constexpr int kRounds = 9;

Options in_groups(Options options, const std::string& groups) {
  options.algorithm = kTrees;
  options.lanes = 1;
  options.groups = groups;
  return options;
}

bool goes_along_tree(Collective collective) {
  return collective == Collective::allreduce || collective == Collective::reduce ||
         collective == Collective::broadcast;
}

template <class Caller>
std::string try_calls(Caller& caller) {
  std::string first;
  for (int round = 1; round <= kRounds; ++round) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{300}}) {
      for (const CollectiveReference& reference : references_of_all(caller.size(), count)) {
        if (!goes_along_tree(reference.collective)) continue;
        CallTrial trial(reference, caller.rank(),
                        round % 2 == 0 ? Placement::in_place : Placement::separate);
        trial.fill(round);
        caller.run(trial.call());
        note(first, trial.complaint());
      }
    }
    caller.barrier();
  }
  return first;
}

constexpr int kMostTeams = 2;  // of so many threads, on few cores

TEST_CASE("threads") {
  if (world_size() > kMostTeams) return;
  for (const char* groups : {"machine", "flat", "2", "2,4", "3,6,12"}) {
    for (const int threads : {5, 8}) {
      CAPTURE(groups);
      CAPTURE(threads);
      Team team(MPI_COMM_WORLD, threads, in_groups(Options::from_environment(), groups));
      CHECK(in_every_thread(team, [](Member& member) { return try_calls(member); }) == "");
      CHECK(team.choice(calls::barrier()).algorithm == "lines-tree-recursive-doubling");
    }
  }
}

TEST_CASE("processes, on one node and on two emulated ones") {
  for (const int nodes : {1, 2}) {
    if (nodes > world_size()) continue;
    for (const char* groups : {"2", "2,4"}) {
      CAPTURE(nodes);
      CAPTURE(groups);
      Communicator communicator(MPI_COMM_WORLD, in_groups(options_with(nodes), groups));
      CHECK(try_calls(communicator) == "");
    }
  }
}

TEST_CASE("threads of several processes on one node") {
  Team team(MPI_COMM_WORLD, 2, in_groups(options_with(1), "2,4"));
  CHECK(in_every_thread(team, [](Member& member) { return try_calls(member); }) == "");
}

/// As if the machine were this one.
class DescribedMachine {
 public:
  explicit DescribedMachine(const char* description) { setenv("HWLOC_SYNTHETIC", description, 1); }
  ~DescribedMachine() { unsetenv("HWLOC_SYNTHETIC"); }
};

Options chosen_on_machine(Options options) {
  options.algorithm = "auto";
  options.lanes = 0;
  options.groups = "machine";
  options.latencies = "10,20,40,200,2000";
  return options;
}

TEST_CASE("auto takes the machine's groups where they are faster: threads") {
  if (world_size() > kMostTeams) return;
  // Two packages for each process.
  const DescribedMachine machine(world_size() == 1 ? "pack:2 l3:2 core:2 pu:1"
                                                   : "pack:4 l3:2 core:2 pu:1");
  const Options options = chosen_on_machine(Options::from_environment());
  Team team(MPI_COMM_WORLD, 8, options);
  CHECK(in_every_thread(team, [](Member& member) { return try_calls(member); }) == "");
  const bool is_alone = world_size() == 1;
  CHECK(team.choice(calls::barrier()).algorithm == "lines-tree-recursive-doubling");
  std::vector<double> values(std::size_t{1} << 16);
  if (is_alone) CHECK(team.choice(calls::allreduce(values)).algorithm == "grouped-leaders");
  // Two members always exchange what they have.
  Team pair(MPI_COMM_WORLD, 2, options);
  CHECK(pair.choice(calls::barrier()).algorithm == "lines-recursive-doubling");
}

TEST_CASE("auto takes the machine's groups where they are faster: processes, on several nodes") {
  const DescribedMachine machine("pack:2 l3:4 core:2 pu:1");
  for (const int nodes : {1, 2}) {
    if (world_size() / nodes < 4) continue;
    CAPTURE(nodes);
    Communicator communicator(MPI_COMM_WORLD, chosen_on_machine(options_with(nodes)));
    CHECK(communicator.choice(calls::barrier()).algorithm == "lines-tree-recursive-doubling");
    CHECK(try_calls(communicator) == "");
  }
}

TEST_CASE("processes that pass other groups are named") {
  if (world_size() == 1) return;
  Options options = options_with(1);
  options.groups = world_rank() == 0 ? "2,4" : "4,8";
  CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options),
                       doctest::Contains("groups (HYCOLL_GROUPS) is '2,4' on process 0"), Error);
  CHECK_THROWS_WITH_AS(Communicator(MPI_COMM_WORLD, options), doctest::Contains("'4,8'"), Error);
}

TEST_CASE("what the environment says wrongly is refused at once") {
  setenv("HYCOLL_GROUPS", "4,six", 1);
  CHECK_THROWS_WITH_AS(Options::from_environment(), doctest::Contains("(HYCOLL_GROUPS) is '4,six'"),
                       Error);
  unsetenv("HYCOLL_GROUPS");
  setenv("HYCOLL_LATENCIES", "10,20", 1);
  CHECK_THROWS_WITH_AS(Options::from_environment(),
                       doctest::Contains("(HYCOLL_LATENCIES) is '10,20'"), Error);
  unsetenv("HYCOLL_LATENCIES");
}

TEST_CASE("what is no group is refused") {
  for (const char* groups : {"", "4,", "0", "four", "4,6"}) {
    CAPTURE(groups);
    const Options options = in_groups(Options::from_environment(), groups);
    CHECK_THROWS_WITH_AS(Team(MPI_COMM_WORLD, 8, options), doctest::Contains("groups"), Error);
  }
}

}  // namespace
}  // namespace hycoll::tests
