/* A program in C that brings libraries of its own by the names of those that hycoll is made with
 * (foreign_libraries.sh), and adds up long vectors. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCount = 1 << 20, kRounds = 6 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double* const input = malloc(kCount * sizeof(double));
  double* const output = malloc(kCount * sizeof(double));
  if (input == NULL || output == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kCount; ++i) {
      input[i] = (double)i + round * rank;
      output[i] = -1;
    }
    MPI_Allreduce(input, output, kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < kCount; ++i) {
      const double expected = (double)size * i + round * (size * (size - 1) / 2);
      if (output[i] == expected) continue;
      fprintf(stderr, "rank %d, round %d, element %d: %g, expected %g\n", rank, round, i, output[i],
              expected);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  free(input);
  free(output);
  MPI_Finalize();
  return 0;
}
