// Measures how soon a process that waits in a barrier answers others: fetch-and-op on memory of
// rank 0, which waits for rank 1 all the time. An unmodified MPI program, to be run by itself and
// with libhycoll_pmpi.so preloaded. Ranks from 2 on wait beside rank 0.
//
// usage: mpiexec -n RANKS bench_progress [OPERATIONS]

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// So that the preload library has prepared itself.
constexpr int kBarriersBefore = 100;
constexpr int kRounds = 5;
/// Longer than any wait is at full speed.
constexpr std::chrono::milliseconds kLate{10};

/// Adds 1 to rank 0's counter so many times. Returns the times in microseconds.
std::vector<double> add_to_counter(MPI_Win window, int operations) {
  std::vector<double> times_us;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  for (int i = 0; i < operations; ++i) {
    const long one = 1;
    long before = 0;
    const double start = MPI_Wtime();
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    times_us.push_back(1e6 * (MPI_Wtime() - start));
  }
  MPI_Win_unlock(0, window);
  return times_us;
}

void print(std::vector<double> times_us) {
  std::ranges::sort(times_us);
  const auto at = [&](double part) {
    return times_us[static_cast<std::size_t>(part * static_cast<double>(times_us.size() - 1))];
  };
  std::printf("fetch-and-op on a rank in MPI_Barrier: median %.2f us, 95 %% below %.2f us\n",
              at(0.5), at(0.95));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int operations = argc > 1 ? std::max(1, std::atoi(argv[1])) : 200;
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) {
    std::fprintf(stderr, "bench_progress: one rank cannot wait for another; start two or more\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int i = 0; i < kBarriersBefore; ++i) MPI_Barrier(MPI_COMM_WORLD);
  // Not on the stack, where Debian's MPICH 4.0.2 counts somewhere else.
  std::vector<long> counter(1);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(counter.data(), sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                 &window);
  std::vector<double> times_us;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      std::this_thread::sleep_for(kLate);
      const std::vector<double> times = add_to_counter(window, operations);
      times_us.insert(times_us.end(), times.begin(), times.end());
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const bool is_right = rank != 0 || counter[0] == static_cast<long>(kRounds) * operations;
  if (rank == 1) print(std::move(times_us));
  if (!is_right) std::fprintf(stderr, "bench_progress: the counter is %ld\n", counter[0]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
