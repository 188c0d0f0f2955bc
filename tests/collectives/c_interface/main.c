// The interface for C, used from C11.
#include <mpi.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "checks.h"

static atomic_int failures;

void check_that(bool holds, const char* file, int line, const char* format, ...) {
  if (holds) return;
  atomic_fetch_add(&failures, 1);
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "%s:%d: %s\n", file, line, text);
}

int failure_count(void) { return atomic_load(&failures); }

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
