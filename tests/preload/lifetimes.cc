// Communicators that live for a few calls, short or long. Results are right whoever serves them,
// and calls that take long are hycoll's after a few, which the report tells (run.sh).

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "tests/preload/programs.h"

namespace {

/// 8 MiB: a few of these calls take longer than preparing hycoll on any machine.
constexpr std::size_t kLongCount = std::size_t{1} << 20;
constexpr int kLongCalls = 24;
constexpr int kShortLived = 40;

void sum_often(MPI_Comm communicator, std::size_t count, int calls) {
  const int rank = programs::rank_of(communicator);
  const int size = programs::size_of(communicator);
  std::vector<long> input(count);
  std::vector<long> output(count);
  for (int call = 0; call < calls; ++call) {
    for (std::size_t i = 0; i < count; ++i) input[i] = static_cast<long>(i % 97) + call + rank;
    MPI_Allreduce(input.data(), output.data(), static_cast<int>(count), MPI_LONG, MPI_SUM,
                  communicator);
    for (std::size_t i = 0; i < count; ++i) {
      const long expected =
          size * (static_cast<long>(i % 97) + call) + static_cast<long>(size) * (size - 1) / 2;
      REQUIRE_HERE(output[i] == expected);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int lived = 0; lived < kShortLived; ++lived) {
    MPI_Comm communicator = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    sum_often(communicator, 1, lived);
    MPI_Comm_free(&communicator);
  }
  sum_often(MPI_COMM_WORLD, kLongCount, kLongCalls);
  MPI_Finalize();
  return 0;
}
