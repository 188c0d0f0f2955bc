// Heat in a plate, in C with OpenMP: each step takes the mean of four neighbours, and all threads
// of all processes learn by how much the largest change was. Rows are dealt to processes, and those
// of a process to its threads. Two ways take turns:
//
//   MPI      OpenMP reduces the changes of a process's threads, and the first thread calls
//   MPI_Allreduce hycoll   each thread is a member of a team, and calls hycoll_allreduce with its
//   own change
//
// usage: mpiexec -n P ./stencil [columns] [rows of a process] [steps] [blocks]
#include <hycoll.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostBlocks = 100 };

/// Rows of a process, with those of its neighbours before and behind them.
struct plate {
  int columns;
  int rows;
  double* now;
  double* next;
};

static int rank;
static int processes;
static double shared_change;

static double* row_of(double* values, const struct plate* plate, int row) {
  return values + (size_t)row * (size_t)(plate->columns + 2);
}

static void check(int mpi_class) {
  if (mpi_class == MPI_SUCCESS) return;
  fprintf(stderr, "%s\n", hycoll_error_string());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void heat(struct plate* plate) {
  for (int row = 0; row < plate->rows + 2; ++row) {
    for (int i = 0; i < plate->columns + 2; ++i) {
      // The left border is hot.
      row_of(plate->now, plate, row)[i] = row_of(plate->next, plate, row)[i] = i == 0 ? 1 : 0;
    }
  }
}

static void exchange_rows(const struct plate* plate) {
  const int below = rank == 0 ? MPI_PROC_NULL : rank - 1;
  const int above = rank == processes - 1 ? MPI_PROC_NULL : rank + 1;
  const int count = plate->columns + 2;
  MPI_Sendrecv(row_of(plate->now, plate, 1), count, MPI_DOUBLE, below, 0,
               row_of(plate->now, plate, plate->rows + 1), count, MPI_DOUBLE, above, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(row_of(plate->now, plate, plate->rows), count, MPI_DOUBLE, above, 1,
               row_of(plate->now, plate, 0), count, MPI_DOUBLE, below, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

/// The rows from first to last - 1; returns the largest change.
static double step_rows(struct plate* plate, int first, int last) {
  double change = 0;
  for (int row = first; row < last; ++row) {
    const double* const below = row_of(plate->now, plate, row - 1);
    const double* const here = row_of(plate->now, plate, row);
    const double* const above = row_of(plate->now, plate, row + 1);
    double* const next = row_of(plate->next, plate, row);
    for (int i = 1; i <= plate->columns; ++i) {
      next[i] = 0.25 * (here[i - 1] + here[i + 1] + below[i] + above[i]);
      change = fmax(change, fabs(next[i] - here[i]));
    }
  }
  return change;
}

/// The largest of all threads' changes, on each. By `member`, or, if it is null, by MPI.
static double largest(double own, const hycoll_member* member) {
  double change = 0;
  if (member != NULL) {
    check(hycoll_allreduce(&own, &change, 1, MPI_DOUBLE, MPI_MAX, *member));
    return change;
  }
#pragma omp single
  shared_change = 0;
#pragma omp critical
  shared_change = fmax(shared_change, own);
#pragma omp barrier
#pragma omp master
  MPI_Allreduce(MPI_IN_PLACE, &shared_change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
#pragma omp barrier
  change = shared_change;
#pragma omp barrier
  return change;
}

/// Returns the seconds that the steps took, and sets the last change.
static double run(struct plate* plate, int steps, const hycoll_team* team, double* last_change) {
  heat(plate);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
#pragma omp parallel
  {
    const int thread = omp_get_thread_num();
    const int threads = omp_get_num_threads();
    const int first = 1 + plate->rows * thread / threads;
    const int last = 1 + plate->rows * (thread + 1) / threads;
    double change = 0;
    hycoll_member member = HYCOLL_NULL;
    if (team != NULL) check(hycoll_team_join(*team, thread, &member));
    for (int step = 0; step < steps; ++step) {
#pragma omp barrier
#pragma omp master
      exchange_rows(plate);
#pragma omp barrier
      change = largest(step_rows(plate, first, last), team != NULL ? &member : NULL);
#pragma omp barrier
#pragma omp master
      {
        double* const now = plate->now;
        plate->now = plate->next;
        plate->next = now;
      }
    }
#pragma omp master
    *last_change = change;
  }
  return MPI_Wtime() - start;
}

static int compare(const void* left, const void* right) {
  const double a = *(const double*)left;
  const double b = *(const double*)right;
  return (a > b) - (a < b);
}

static int argument(int argc, char** argv, int place, int otherwise) {
  return argc > place ? atoi(argv[place]) : otherwise;
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  struct plate plate = {argument(argc, argv, 1, 256), argument(argc, argv, 2, 128), NULL, NULL};
  const int steps = argument(argc, argv, 3, 100);
  const int blocks =
      argument(argc, argv, 4, 5) < kMostBlocks ? argument(argc, argv, 4, 5) : kMostBlocks;
  const size_t bytes = (size_t)(plate.columns + 2) * (size_t)(plate.rows + 2) * sizeof(double);
  plate.now = malloc(bytes);
  plate.next = malloc(bytes);
  hycoll_team team;
  check(hycoll_team_create(MPI_COMM_WORLD, omp_get_max_threads(), NULL, &team));
  double seconds[2][kMostBlocks];
  double changes[2] = {0, 0};
  for (int block = 0; block < blocks; ++block) {
    seconds[0][block] = run(&plate, steps, NULL, &changes[0]);
    seconds[1][block] = run(&plate, steps, &team, &changes[1]);
  }
  check(hycoll_team_free(&team));
  if (rank == 0) {
    printf("%d processes with %d threads each\n", processes, omp_get_max_threads());
    for (int way = 0; way < 2; ++way) {
      qsort(seconds[way], (size_t)blocks, sizeof(double), compare);
      printf("%s %9.2f us a step\n", way == 0 ? "MPI   " : "hycoll",
             1e6 * seconds[way][blocks / 2] / steps);
    }
    printf("largest change %.3e\n", changes[1]);
  }
  const bool is_right = changes[0] == changes[1] && changes[1] > 0;
  if (!is_right) fprintf(stderr, "the two ways differ: %g and %g\n", changes[0], changes[1]);
  free(plate.now);
  free(plate.next);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
