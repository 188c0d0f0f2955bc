// A program under a profiling tool, which must see what the program calls and nothing of hycoll's.
// usage: profiled [below]
// A tool below hycoll does not see what hycoll serves.

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "tests/preload/libraries/tool.h"
#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;

struct Expected {
  ToolCounter counter;
  long calls;
};

/// Every kind of call that hycoll serves, short and long, and the expected sum of each.
void reduce_and_scan(MPI_Comm communicator, int round, int elements) {
  const std::int64_t rank = rank_of(communicator);
  const std::int64_t size = size_of(communicator);
  const std::int64_t total = size * (size - 1) / 2 + size * round;
  const std::vector<std::int64_t> input(static_cast<std::size_t>(elements), rank + round);
  std::vector<std::int64_t> output(input.size(), -1);
  MPI_Reduce(input.data(), output.data(), elements, MPI_INT64_T, MPI_SUM, 0, communicator);
  REQUIRE_HERE(rank != 0 || output.back() == total);
  MPI_Scan(input.data(), output.data(), elements, MPI_INT64_T, MPI_SUM, communicator);
  REQUIRE_HERE(output.back() == rank * (rank + 1) / 2 + (rank + 1) * round);
  MPI_Barrier(communicator);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(input.data(), output.data(), elements, MPI_INT64_T, MPI_SUM, communicator,
                 &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  REQUIRE_HERE(output.back() == total);
  std::int64_t sum = -1;
  MPI_Allreduce(&input[0], &sum, 1, MPI_INT64_T, MPI_SUM, communicator);
  REQUIRE_HERE(sum == total);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  REQUIRE_HERE(tool_calls != nullptr);
  constexpr int kRounds = 30;
  const bool is_above = argc == 1;
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank_of(MPI_COMM_WORLD), &copy);
  for (int round = 0; round < kRounds; ++round) reduce_and_scan(copy, round, 1 + 997 * round);
  MPI_Comm_free(&copy);
  const std::array<Expected, kToolCounters> all = {
      {{ToolCounter::allreduce, is_above ? kRounds : 0},
       {ToolCounter::isend, 0},
       {ToolCounter::irecv, 0},
       {ToolCounter::iprobe, 0},
       {ToolCounter::test, 0},
       {ToolCounter::wait, kRounds},
       {ToolCounter::comm_split, 1},
       {ToolCounter::comm_dup_with_info, 0},
       {ToolCounter::comm_free, 1},
       {ToolCounter::comm_set_errhandler, 0}}};
  for (const Expected& expected : all) {
    if (tool_calls(expected.counter) == expected.calls) continue;
    std::fprintf(stderr, "the tool saw %ld calls of function %d instead of %ld\n",
                 tool_calls(expected.counter), static_cast<int>(expected.counter), expected.calls);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) std::puts("profiled: ok");
  return 0;
}
