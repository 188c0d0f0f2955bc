// A histogram that TBB tasks count into thread-local copies, added up over threads and processes in
// one call.
#include <hycoll/hycoll.h>
#include <tbb/combinable.h>
#include <tbb/parallel_for.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  constexpr std::size_t kBinCount = 256;
  constexpr std::size_t kItemsPerBin = 100;
  long wrong = 0;
  {
    hycoll::Communicator communicator(MPI_COMM_WORLD);
    tbb::combinable<std::vector<long>> histograms([] { return std::vector<long>(kBinCount); });
    tbb::parallel_for(std::size_t{0}, kBinCount * kItemsPerBin,
                      [&](std::size_t item) { ++histograms.local()[item % kBinCount]; });

    std::vector<long> histogram(kBinCount);
    communicator.allreduce_combinable(histograms, std::span(histogram));

    const long expected = static_cast<long>(kItemsPerBin) * communicator.size();
    for (const long count : histogram) wrong += count != expected;
    if (communicator.rank() == 0) std::printf("%ld items in every bin\n", histogram[0]);
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
