// A program under a tool that wraps MPI_Init only.

#include <mpi.h>

#include <cstdlib>

#include "tests/preload/support/programs.h"

/// Weak: null where the tool is not preloaded.
extern "C" __attribute__((weak)) int init_tool_calls();

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  REQUIRE_HERE(init_tool_calls != nullptr && init_tool_calls() == 1);
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  REQUIRE_HERE(std::getenv("HYCOLL_LEADERS") == nullptr || level == MPI_THREAD_MULTIPLE);
  for (int round = 0; round < 20; ++round) programs::require_sum(MPI_COMM_WORLD, round);
  MPI_Finalize();
  return 0;
}
