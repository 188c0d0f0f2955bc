// An allreduce that is set up once and started in every step of a loop.
#include <hycoll/hycoll.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  int wrong = 0;
  {
    hycoll::Communicator communicator(MPI_COMM_WORLD);
    const int size = communicator.size();
    std::vector<double> local(4096);
    std::vector<double> global(local.size());
    hycoll::Persistent allreduce = communicator.allreduce_init(local, global);
    for (int step = 0; step < 10; ++step) {
      for (double& value : local) value = step * (communicator.rank() + 1.0);
      if (step % 2 == 0) {
        allreduce.run();  // blocking: the caller works too
      } else {
        allreduce.start();  // in the background
        allreduce.wait();
      }
      for (const double value : global) wrong += value != step * size * (size + 1) / 2.0;
    }
    if (communicator.rank() == 0) std::printf("10 steps, last sum %g\n", global[0]);
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
