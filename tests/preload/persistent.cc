// The persistent forms of the reductions, the broadcast, the gathers, the scatter and the barrier,
// where the MPI library has them.

#include <mpi.h>
#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <vector>

#include "tests/preload/programs.h"

#if MPI_VERSION >= 4
#define PERSISTENT(name) MPI_##name##_init
#else
#define PERSISTENT(name) MPIX_##name##_init
#endif

namespace {

using programs::rank_of;
using programs::size_of;

constexpr int kCount = 40;

/// Starts what set_up(request) has set up some times, with other inputs.
template <class SetUp, class Check>
void repeat(std::vector<int>& input, const SetUp& set_up, const Check& check) {
  MPI_Request request = MPI_REQUEST_NULL;
  REQUIRE_HERE(set_up(&request) == MPI_SUCCESS);
  for (int round = 0; round < 3; ++round) {
    input.assign(input.size(), rank_of(MPI_COMM_WORLD) + round);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(round);
  }
  MPI_Request_free(&request);
}

/// The sum of `rank + round` over ranks first to last - 1.
int sum_of(int first, int last, int round) {
  int sum = 0;
  for (int rank = first; rank < last; ++rank) sum += rank + round;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const MPI_Comm on = MPI_COMM_WORLD;
  const int rank = rank_of(on);
  const int size = size_of(on);
  std::vector<int> input(kCount);
  std::vector<int> blocks(static_cast<std::size_t>(kCount * size));
  const std::vector<int> counts(static_cast<std::size_t>(size), kCount);
  std::vector<int> output(kCount, -1);
  const auto sums = [&](int first, int last) {
    return [&output, first, last](int round) {
      for (const int sum : output) REQUIRE_HERE(sum == sum_of(first, last, round));
    };
  };
  repeat(
      input,
      [&](MPI_Request* request) {
        return PERSISTENT(Allreduce)(input.data(), output.data(), kCount, MPI_INT, MPI_SUM, on,
                                     MPI_INFO_NULL, request);
      },
      sums(0, size));
  repeat(
      input,
      [&](MPI_Request* request) {
        return PERSISTENT(Reduce)(input.data(), output.data(), kCount, MPI_INT, MPI_SUM, 0, on,
                                  MPI_INFO_NULL, request);
      },
      [&](int round) {
        if (rank == 0) sums(0, size)(round);
      });
  repeat(
      input,
      [&](MPI_Request* request) {
        return PERSISTENT(Scan)(input.data(), output.data(), kCount, MPI_INT, MPI_SUM, on,
                                MPI_INFO_NULL, request);
      },
      sums(0, rank + 1));
  repeat(
      input,
      [&](MPI_Request* request) {
        return PERSISTENT(Exscan)(input.data(), output.data(), kCount, MPI_INT, MPI_SUM, on,
                                  MPI_INFO_NULL, request);
      },
      [&](int round) {
        if (rank > 0) sums(0, rank)(round);
      });
  repeat(
      blocks,
      [&](MPI_Request* request) {
        return PERSISTENT(Reduce_scatter_block)(blocks.data(), output.data(), kCount, MPI_INT,
                                                MPI_SUM, on, MPI_INFO_NULL, request);
      },
      sums(0, size));
  repeat(
      blocks,
      [&](MPI_Request* request) {
        return PERSISTENT(Reduce_scatter)(blocks.data(), output.data(), counts.data(), MPI_INT,
                                          MPI_SUM, on, MPI_INFO_NULL, request);
      },
      sums(0, size));
  repeat(
      input,
      [&](MPI_Request* request) {
        return PERSISTENT(Bcast)(input.data(), kCount, MPI_INT, size - 1, on, MPI_INFO_NULL,
                                 request);
      },
      [&](int round) { REQUIRE_HERE(input.front() == size - 1 + round); });
  // One start, of input that is there already: MPICH 4.0.2, by itself, gets later starts wrong.
  MPI_Request gathering = MPI_REQUEST_NULL;
  input.assign(kCount, rank);
  const int code = PERSISTENT(Allgather)(input.data(), kCount, MPI_INT, blocks.data(), kCount,
                                         MPI_INT, on, MPI_INFO_NULL, &gathering);
  REQUIRE_HERE(code == MPI_SUCCESS);
  MPI_Start(&gathering);
  MPI_Wait(&gathering, MPI_STATUS_IGNORE);
  MPI_Request_free(&gathering);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    REQUIRE_HERE(blocks[i] == static_cast<int>(i) / kCount);
  }
  // No start: MPICH 4.0.2, by itself, gets all of them wrong.
  MPI_Request rooted = MPI_REQUEST_NULL;
  const int gathers = PERSISTENT(Gather)(input.data(), kCount, MPI_INT, blocks.data(), kCount,
                                         MPI_INT, 0, on, MPI_INFO_NULL, &rooted);
  REQUIRE_HERE(gathers == MPI_SUCCESS);
  MPI_Request_free(&rooted);
  const int scatters = PERSISTENT(Scatter)(blocks.data(), kCount, MPI_INT, output.data(), kCount,
                                           MPI_INT, 0, on, MPI_INFO_NULL, &rooted);
  REQUIRE_HERE(scatters == MPI_SUCCESS);
  MPI_Request_free(&rooted);
  repeat(
      input, [&](MPI_Request* request) { return PERSISTENT(Barrier)(on, MPI_INFO_NULL, request); },
      [](int /*round*/) {});
  MPI_Finalize();
  if (rank == 0) std::puts("persistent: ok");
  return 0;
}
