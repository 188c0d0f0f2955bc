// The interface for C: every OpenMP thread of every process is a member with a vector of its own.
#include <hycoll.h>
#include <omp.h>
#include <stdio.h>

enum { kCount = 1000, kThreads = 2 };

int main(int argc, char** argv) {
  int level = 0;
  int wrong = 0;
  hycoll_team team;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (hycoll_team_create(MPI_COMM_WORLD, kThreads, NULL, &team) != MPI_SUCCESS) {
    fprintf(stderr, "%s\n", hycoll_error_string());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
#pragma omp parallel num_threads(kThreads) reduction(+ : wrong)
  {
    hycoll_member member;
    int rank = 0;
    int size = 0;
    double gradient[kCount];
    hycoll_team_join(team, omp_get_thread_num(), &member);
    hycoll_rank(member, &rank);
    hycoll_size(member, &size);
    for (int i = 0; i < kCount; ++i) gradient[i] = rank + 1;
    // On every thread, the sum over all threads of all processes.
    if (hycoll_allreduce(MPI_IN_PLACE, gradient, kCount, MPI_DOUBLE, MPI_SUM, member) !=
        MPI_SUCCESS) {
      fprintf(stderr, "%s\n", hycoll_error_string());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < kCount; ++i) wrong += gradient[i] != size * (size + 1) / 2.0;
    if (rank == 0) printf("%d members, sum %g\n", size, gradient[0]);
  }
  hycoll_team_free(&team);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
