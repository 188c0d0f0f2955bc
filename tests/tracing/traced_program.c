/* Calls from different places, for which one rank is late: an unmodified program.
 *
 * usage: traced_program [hang|elsewhere|loop]
 *   hang: in the end rank 1 sleeps, and the others wait for it in even_sum(); loop: it computes for
 * ever; elsewhere: it waits for the others in a barrier on another communicator
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kRounds = 50, kCount = 64 };

static void sleep_ms(long time) {
  struct timespec pause = {time / 1000, time % 1000 * 1000000};
  while (nanosleep(&pause, &pause) != 0) {
    /* A signal has come. */
  }
}

/* What follows the calls keeps the compiler from leaving the functions by them. */
static volatile int calls_made;

__attribute__((noinline)) static void late_sum(double* values, int rank) {
  if (rank == 1) sleep_ms(4);
  MPI_Allreduce(MPI_IN_PLACE, values, kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  ++calls_made;
}

__attribute__((noinline)) static void even_sum(double* values) {
  MPI_Allreduce(MPI_IN_PLACE, values, kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  ++calls_made;
}

__attribute__((noinline)) static void long_sum(double* values, int count) {
  MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  ++calls_made;
}

int main(int argument_count, char** arguments) {
  MPI_Init(&argument_count, &arguments);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const end = argument_count > 1 ? arguments[1] : "";
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_set_name(other, "the other one");
  const int long_count = 1 << 18;
  double* const values = calloc((size_t)long_count, sizeof(double));
  if (values == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int round = 0; round < kRounds; ++round) {
    late_sum(values, rank);
    even_sum(values);
    even_sum(values);
    /* Each rank is the root in turn, and everybody waits for all. */
    MPI_Bcast(values, kCount, MPI_DOUBLE, round % 2, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  long_sum(values, long_count);
  if (*end != '\0') {
    MPI_Barrier(other);
    if (rank == 1 && strcmp(end, "hang") == 0) sleep_ms(600000);
    while (rank == 1 && strcmp(end, "loop") == 0) ++calls_made;
    printf("rank 1 is waited for\n");
    fflush(stdout);
    if (rank == 1 && strcmp(end, "elsewhere") == 0) MPI_Barrier(other);
    even_sum(values);
  }
  MPI_Comm_free(&other);
  free(values);
  MPI_Finalize();
  return 0;
}
