// An MPI program that takes the times of ring allreduces: of 16 MiB with the processes in the
// ring's order on a network, and of 4 MiB in the order of their ranks. tests/hosts/ring_test.sh
// runs it on emulated hosts.
//
// usage: ring_program TOPOLOGY     prints "ring order: SECONDS" and "rank order: SECONDS"
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kCount = (std::size_t{16} << 20) / sizeof(float);
// Enough to be compared, for links are crowded in that order.
constexpr std::size_t kRankOrderCount = kCount / 4;
// Enough for connections and plans.
constexpr std::size_t kWarmUpCount = kCount / 64;

hycoll::Communicator ring_on(const std::string& topology) {
  hycoll::Options options;
  options.layout = hycoll::Options::Layout::per_node;
  options.workers = 1;
  options.algorithm = "allreduce:dpml-ring:1";
  options.topology = topology;
  return hycoll::Communicator(MPI_COMM_WORLD, options);
}

/// Of the slowest process.
double seconds_of_allreduce(hycoll::Communicator& communicator, std::size_t count) {
  std::vector<float> input(count, static_cast<float>(communicator.rank() + 1));
  std::vector<float> output(count);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  communicator.allreduce(input.data(), output.data(), count, hycoll::DataType::float32,
                         hycoll::Operator::sum);
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const int size = communicator.size();
  const auto sum = static_cast<float>(size * (size + 1) / 2);
  if (std::ranges::count(output, sum) != static_cast<std::ptrdiff_t>(count)) {
    std::fprintf(stderr, "ring_program: rank %d has a wrong sum\n", communicator.rank());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return seconds;
}

/// The least of two calls, of which other programs may disturb one.
void time_ring(const char* name, const std::string& topology, std::size_t count) {
  hycoll::Communicator communicator = ring_on(topology);
  seconds_of_allreduce(communicator, kWarmUpCount);
  const double first = seconds_of_allreduce(communicator, count);
  const double second = seconds_of_allreduce(communicator, count);
  if (communicator.rank() == 0) std::printf("%s: %.3f\n", name, std::min(first, second));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: ring_program TOPOLOGY\n");
    return 2;
  }
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  time_ring("ring order", argv[1], kCount);
  time_ring("rank order", "", kRankOrderCount);
  MPI_Finalize();
  return 0;
}
