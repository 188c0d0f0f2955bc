// One buffer per process: the calling thread and a pool of pinned leaders reduce it together.
#include <hycoll/hycoll.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  int wrong = 0;
  {
    hycoll::Communicator communicator(MPI_COMM_WORLD);
    const std::vector<float> input(100'000, communicator.rank() + 1.0f);
    std::vector<float> output(input.size());
    communicator.allreduce(input, output, hycoll::Operator::max);
    for (const float value : output) wrong += value != static_cast<float>(communicator.size());

    const int ranks = communicator.allreduce(communicator.rank());  // one value, summed
    wrong += ranks != communicator.size() * (communicator.size() - 1) / 2;

    const auto choice =
        communicator.choice(hycoll::calls::allreduce(input, output, hycoll::Operator::max));
    if (communicator.rank() == 0) {
      std::printf("maximum %g by %s, lanes: %d, workers: %d\n", output[0], choice.algorithm.c_str(),
                  choice.lanes, choice.workers);
    }
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
