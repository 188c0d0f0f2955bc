// Work goes on while the pool's leaders reduce in the background, two vectors at once.
#include <hycoll/hycoll.h>

#include <cmath>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  int wrong = 0;
  {
    hycoll::Communicator communicator(MPI_COMM_WORLD);
    const std::vector<double> weights(50'000, communicator.rank() + 1.0);
    const std::vector<long> counts(10'000, 1);
    std::vector<double> weight_sums(weights.size());
    std::vector<long> count_sums(counts.size());
    // All processes start them in the same order; the buffers stay alone until wait().
    hycoll::Request first = communicator.iallreduce(weights, weight_sums);
    hycoll::Request second = communicator.iallreduce(counts, count_sums);

    double own_work = 0.0;
    for (int i = 0; i < 100'000; ++i) own_work += std::sqrt(i);

    second.wait();
    first.wait();  // hycoll::wait_all takes many
    const int size = communicator.size();
    for (const double sum : weight_sums) wrong += sum != size * (size + 1) / 2.0;
    for (const long sum : count_sums) wrong += sum != size;
    if (communicator.rank() == 0) std::printf("sum %g beside work %g\n", weight_sums[0], own_work);
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
