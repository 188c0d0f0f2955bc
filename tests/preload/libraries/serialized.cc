// A program over an MPI library without MPI_THREAD_MULTIPLE: what hycoll cannot serve is right.

#include <mpi.h>

#include "tests/preload/support/programs.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  REQUIRE_HERE(level == MPI_THREAD_SERIALIZED);
  for (int round = 0; round < 20; ++round) programs::require_sum(MPI_COMM_WORLD, round);
  MPI_Finalize();
  return 0;
}
