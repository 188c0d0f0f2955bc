// Every process sums up the part of a vector that it owns: parts of different lengths, one of them
// empty. Then all learn where their part begins by an exclusive prefix sum.
#include <hycoll/hycoll.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  int wrong = 0;
  {
    hycoll::Communicator communicator(MPI_COMM_WORLD);
    const int rank = communicator.rank();
    const int size = communicator.size();
    std::vector<std::size_t> part_sizes;
    std::size_t total = 0;
    for (int member = 0; member < size; ++member) {
      part_sizes.push_back(1000 * static_cast<std::size_t>(member));
      total += part_sizes.back();
    }
    std::vector<double> contributions(total);
    for (std::size_t i = 0; i < total; ++i)
      contributions[i] = (rank + 1.0) * static_cast<double>(i);
    std::vector<double> part(part_sizes[static_cast<std::size_t>(rank)]);
    communicator.reduce_scatter(contributions, part, part_sizes);

    const std::vector<std::size_t> part_size = {part.size()};
    std::vector<std::size_t> first = {0};  // stays as it is on rank 0
    communicator.exscan(part_size, first);

    const double ranks = size * (size + 1) / 2.0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      wrong += part[i] != ranks * static_cast<double>(first[0] + i);
    }
    if (rank == size - 1) std::printf("part of %zu from %zu on\n", part.size(), first[0]);
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
