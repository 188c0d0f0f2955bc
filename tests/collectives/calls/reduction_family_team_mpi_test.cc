// All collectives of the reduction family with every thread as a member, in unequal numbers.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "tests/support/call_sweeps.h"

namespace hycoll::tests {
namespace reduction_family_team_mpi_test {

/// 2, 1, 3, 2, 1 threads.
int unequal_thread_count() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return 1 + (rank * 2 + 1) % 3;
}

TEST_CASE("every collective, form, placement and root, for many sizes") {
  Team team(MPI_COMM_WORLD, unequal_thread_count());
  CHECK(in_every_thread(team, [](Member& member) {
          return sweep_calls(member, {0, 1, 7, 64, 1000, 70'001});
        }) == "");
}

TEST_CASE("more lanes than some processes have threads") {
  Options options = Options::from_environment();
  options.lanes = 3;
  Team team(MPI_COMM_WORLD, unequal_thread_count(), options);
  CHECK(in_every_thread(team, [](Member& member) {
          return sweep_calls(member, {3, 20'000});
        }) == "");
}

TEST_CASE("calls of different collectives and sizes are under way at once") {
  Team team(MPI_COMM_WORLD, unequal_thread_count());
  CHECK(in_every_thread(team, [](Member& member) { return overlap_calls(member); }) == "");
}

TEST_CASE("persistent calls of different collectives are started many times") {
  Team team(MPI_COMM_WORLD, unequal_thread_count());
  CHECK(in_every_thread(team, [](Member& member) { return repeat_calls(member); }) == "");
}

TEST_CASE("one thread starts the calls of several members") {
  Team team(MPI_COMM_WORLD, 2);
  Member members[] = {team.join(0), team.join(1)};
  for (const std::size_t count : {std::size_t{5}, std::size_t{20'000}}) {
    const int size = members[0].size();
    for (const CollectiveReference& reference : references_of_all(size, count)) {
      std::vector<CallTrial> trials;
      std::vector<Request> requests;
      for (Member& member : members) {
        trials.emplace_back(reference, member.rank(), Placement::separate);
        trials.back().fill(1);
      }
      for (std::size_t m = 0; m < 2; ++m) {
        requests.push_back(start_by_name(members[m], trials[m].call()));
      }
      for (Request& request : requests) request.wait();
      for (const CallTrial& trial : trials) CHECK(trial.complaint() == "");
    }
  }
}

}  // namespace reduction_family_team_mpi_test
}  // namespace hycoll::tests
