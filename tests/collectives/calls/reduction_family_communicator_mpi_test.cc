// All collectives of the reduction family with one member per process: every form, placement, root
// and kind of blocks; many under way at once; started many times.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <numeric>
#include <span>
#include <vector>

#include "tests/support/call_sweeps.h"

namespace hycoll::tests {
namespace reduction_family_communicator_mpi_test {

Options options_with(int workers) {
  Options options = Options::from_environment();
  options.workers = workers;
  return options;
}

TEST_CASE("every collective, form, placement and root, for many sizes, with one worker and more") {
  for (const int workers : {1, 2, 3}) {
    Communicator communicator(MPI_COMM_WORLD, options_with(workers));
    CHECK(sweep_calls(communicator, {0, 1, 7, 64, 1000, 70'001}, workers) == "");
  }
}

TEST_CASE("processes may have different numbers of workers") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Communicator communicator(MPI_COMM_WORLD, options_with(1 + rank % 3));
  CHECK(sweep_calls(communicator, {5, 40'000}) == "");
}

TEST_CASE("calls of different collectives and sizes are under way at once") {
  for (const int workers : {1, 2}) {
    Communicator communicator(MPI_COMM_WORLD, options_with(workers));
    CHECK(overlap_calls(communicator) == "");
  }
}

TEST_CASE("persistent calls of different collectives are started many times") {
  for (const int workers : {1, 2}) {
    Communicator communicator(MPI_COMM_WORLD, options_with(workers));
    CHECK(repeat_calls(communicator) == "");
  }
}

TEST_CASE("containers give counts and types") {
  Communicator communicator(MPI_COMM_WORLD, options_with(1));
  const int size = communicator.size();
  const int rank = communicator.rank();
  const std::vector<int> input = {rank, 1, -rank};
  std::vector<int> output(3, -1);
  std::vector<int> none;
  const int root = size - 1;
  communicator.reduce(input, rank == root ? output : none, Operator::max, root);
  CHECK(output == (rank == root ? std::vector<int>{size - 1, 1, 0} : std::vector<int>(3, -1)));

  communicator.scan(input, output);
  CHECK(output == std::vector<int>{rank * (rank + 1) / 2, rank + 1, -rank * (rank + 1) / 2});

  output.assign(3, -1);
  communicator.exscan(input, std::span<int>(output));
  const int before = rank * (rank - 1) / 2;
  CHECK(output == (rank == 0 ? std::vector<int>(3, -1) : std::vector<int>{before, rank, -before}));

  std::vector<int> blocks(static_cast<std::size_t>(2 * size));
  std::iota(blocks.begin(), blocks.end(), rank);
  std::vector<int> block(2);
  communicator.reduce_scatter_block(blocks, block);
  const int ranks = size * (size - 1) / 2;
  CHECK(block == std::vector<int>{2 * rank * size + ranks, (2 * rank + 1) * size + ranks});

  std::vector<std::size_t> counts(static_cast<std::size_t>(size), 0);
  counts.back() = blocks.size();
  std::vector<int> all(rank == size - 1 ? blocks.size() : 0);
  communicator.ireduce_scatter(blocks, all, counts, Operator::min).wait();
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<int>(i));

  communicator.ibarrier().wait();
  Persistent barrier = communicator.barrier_init();
  barrier.start();
  barrier.wait();
}

}  // namespace reduction_family_communicator_mpi_test
}  // namespace hycoll::tests
