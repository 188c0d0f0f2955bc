// The interface for C: a sum over all processes, which are the members of a communicator.
#include <hycoll.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  hycoll_member world;
  int rank = 0;
  int size = 0;
  double own = 0;
  double sum = 0;
  if (hycoll_communicator_create(MPI_COMM_WORLD, NULL, &world) != MPI_SUCCESS) {
    fprintf(stderr, "%s\n", hycoll_error_string());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  hycoll_rank(world, &rank);
  hycoll_size(world, &size);
  own = rank + 1;
  hycoll_allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, world);
  if (rank == 0) printf("%d members, sum %g\n", size, sum);
  hycoll_communicator_free(&world);
  MPI_Finalize();
  return sum == size * (size + 1) / 2.0 ? 0 : 1;
}
