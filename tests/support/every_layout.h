#ifndef HYCOLL_TESTS_SUPPORT_EVERY_LAYOUT_H_
#define HYCOLL_TESTS_SUPPORT_EVERY_LAYOUT_H_

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include "tests/support/process_options.h"
#include "tests/support/team_threads.h"

namespace hycoll::tests {

/// Runs body(caller) on the members of every layout, one after the other; it returns a complaint.
template <class Body>
void in_every_layout(const Body& body) {
  for (const int nodes : {1, 2}) {
    Communicator communicator(MPI_COMM_WORLD, options_with(nodes));
    CHECK(body(communicator) == "");
  }
  Options options = Options::from_environment();
  options.workers = 2;
  {
    Communicator communicator(MPI_COMM_WORLD, options);
    CHECK(body(communicator) == "");
  }
  Team team(MPI_COMM_WORLD, 2, options);
  CHECK(in_every_thread(team, [&](Member& member) { return body(member); }) == "");
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_EVERY_LAYOUT_H_
