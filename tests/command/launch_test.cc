// The launcher that the build found belongs to the library that it linked: a foreign mpiexec starts
// every rank as a job of its own, and all tests at several ranks would then test one rank only.
#include <doctest/doctest.h>
#include <mpi.h>

#include <cstdlib>
#include <string>

TEST_CASE("the job has the requested number of ranks") {
  const char* requested = std::getenv("HYCOLL_TEST_RANKS");
  REQUIRE(requested != nullptr);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(std::to_string(size) == requested);
}

TEST_CASE("ranks of one job reach each other") {
  int rank = -1;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int contribution = (rank + 1) * (rank + 1);
  int sum = -1;
  MPI_Allreduce(&contribution, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size * (size + 1) * (2 * size + 1) / 6);
}
