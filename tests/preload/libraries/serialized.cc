// A program over an MPI library without MPI_THREAD_MULTIPLE: what hycoll cannot serve is right.

#include <mpi.h>

#include "tests/preload/support/programs.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  REQUIRE_HERE(level == MPI_THREAD_SERIALIZED);
  const int size = programs::size_of(MPI_COMM_WORLD);
  for (int round = 0; round < 20; ++round) {
    const int number = round + programs::rank_of(MPI_COMM_WORLD);
    int sum = -1;
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    REQUIRE_HERE(sum == size * round + size * (size - 1) / 2);
  }
  MPI_Finalize();
  return 0;
}
