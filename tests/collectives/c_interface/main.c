// The interface for C, used from C11.
#include <mpi.h>
#include <stdio.h>

#include "checks.h"

int main(int argc, char** argv) {
  int level = 0;
  int rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void (*const tests[])(void) = {test_collectives, test_requests, test_mistakes};
  int failed = 0;
  for (int i = 0; i < 3; ++i) {
    const int before = failure_count();
    tests[i]();
    failed += failure_count() > before;
  }
  make_handles_to_end();
  MPI_Finalize();
  const int before = failure_count();
  test_ended_handles();
  failed += failure_count() > before;
  if (rank == 0) {
    printf("[c_interface] test cases: 4 | %d passed | %d failed | 0 skipped\n", 4 - failed, failed);
  }
  return failed > 0;
}
