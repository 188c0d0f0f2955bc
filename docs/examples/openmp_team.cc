// Every OpenMP thread of every process is a member with a vector of its own.
#include <hycoll/hycoll.h>
#include <omp.h>

#include <atomic>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  std::atomic<int> wrong = 0;
  {
    hycoll::Team team(MPI_COMM_WORLD, 2);
#pragma omp parallel num_threads(2)
    {
      try {
        hycoll::Member member = team.join(omp_get_thread_num());
        std::vector<double> gradient(1000, member.rank() + 1.0);
        member.allreduce(gradient);  // in place; on every thread, the sum over all threads
        const double expected = member.size() * (member.size() + 1) / 2.0;
        for (const double value : gradient) wrong += value != expected;
        if (member.rank() == 0) std::printf("%d members, sum %g\n", member.size(), gradient[0]);
      } catch (const hycoll::Error& error) {  // which must not leave the region
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
