// Broadcasts, allgathers, gathers and scatters that cannot be, or that processes do not agree on:
// everybody gets an error, and the next call is right. usage: bad_movements alike|differing
//   alike      all processes make the same mistake
//   differing  besides, each another one, or only one of them; needs HYCOLL_CHECK=1

#include <mpi.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;

/// What this process passes.
struct Call {
  void* buffer;
  int count;
  int root;
};

/// Prints what this process is told of a bad call.
void require_refused(const char* name, int code, MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  REQUIRE_HERE(code != MPI_SUCCESS);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::printf("%s: rank %d is told: %s\n", name, rank, text);
  std::fflush(stdout);
}

/// Makes a bad broadcast.
void refused(const char* name, const Call& call, MPI_Comm communicator) {
  const int code = MPI_Bcast(call.buffer, call.count, MPI_INT, call.root, communicator);
  require_refused(name, code, communicator);
}

/// Makes an allgather of blocks of 10 integers, for which this process passes other input.
void refused_allgather(const char* name, const void* input, int input_count,
                       MPI_Comm communicator) {
  std::vector<int> all(10 * static_cast<std::size_t>(size_of(communicator)), -1);
  const int code =
      MPI_Allgather(input, input_count, MPI_INT, all.data(), 10, MPI_INT, communicator);
  require_refused(name, code, communicator);
  REQUIRE_HERE(std::ranges::count(all, -1) == std::ssize(all));
}

/// The same of a gather to, and a scatter from, rank 0, whose own block has so many integers.
void refused_rooted(const char* name, const void* own, int own_count, int root,
                    MPI_Comm communicator) {
  std::vector<int> all(10 * static_cast<std::size_t>(size_of(communicator)), -1);
  const std::vector<int> before(all);
  int code = MPI_Gather(own, own_count, MPI_INT, all.data(), 10, MPI_INT, root, communicator);
  require_refused(name, code, communicator);
  code = MPI_Scatter(all.data(), 10, MPI_INT, const_cast<void*>(own), own_count, MPI_INT, root,
                     communicator);
  require_refused(name, code, communicator);
  REQUIRE_HERE(all == before);
}

/// Right ones.
void carried(MPI_Comm communicator) {
  std::vector<int> values(700, rank_of(communicator) + 5);
  for (int root = 0; root < size_of(communicator); ++root) {
    std::ranges::fill(values, rank_of(communicator) == root ? root + 5 : -1);
    REQUIRE_HERE(MPI_Bcast(values.data(), 700, MPI_INT, root, communicator) == MPI_SUCCESS);
    REQUIRE_HERE(std::ranges::count(values, root + 5) == 700);
  }
  std::vector<int> ranks(static_cast<std::size_t>(size_of(communicator)), -1);
  const int rank = rank_of(communicator);
  MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, communicator);
  for (std::size_t i = 0; i < ranks.size(); ++i) REQUIRE_HERE(ranks[i] == static_cast<int>(i));
  int own = -1;
  MPI_Scatter(ranks.data(), 1, MPI_INT, &own, 1, MPI_INT, 0, communicator);
  REQUIRE_HERE(own == rank);
  std::ranges::fill(ranks, -1);
  MPI_Gather(&own, 1, MPI_INT, ranks.data(), 1, MPI_INT, 0, communicator);
  for (std::size_t i = 0; i < ranks.size() && rank == 0; ++i) {
    REQUIRE_HERE(ranks[i] == static_cast<int>(i));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  const int rank = rank_of(own);
  const int size = size_of(own);
  std::vector<int> values(100, rank);
  for (int i = 0; i < 8; ++i) carried(own);
  refused("no such root", {values.data(), 100, size}, own);
  carried(own);
  refused("no buffer", {nullptr, 100, 0}, own);
  carried(own);
  refused_allgather("input too long", values.data(), 11, own);
  carried(own);
  refused_allgather("no input", nullptr, 10, own);
  carried(own);
  refused_rooted("no such root", values.data(), 10, size, own);
  carried(own);
  refused_rooted("no own block", nullptr, 10, 0, own);
  carried(own);
  if (argc > 1 && std::string_view(argv[1]) == "differing") {
    const bool is_last = rank == size - 1;
    refused("roots differ", {values.data(), 100, is_last ? size - 1 : 0}, own);
    carried(own);
    refused("counts differ", {values.data(), is_last ? 99 : 100, 0}, own);
    carried(own);
    refused("no such root on one", {values.data(), 100, is_last ? -1 : 0}, own);
    carried(own);
    refused("no buffer on one", {is_last ? nullptr : values.data(), 100, 0}, own);
    carried(own);
    refused_allgather("input too short on one", values.data(), is_last ? 9 : 10, own);
    carried(own);
  }
  MPI_Comm_free(&own);
  MPI_Finalize();
  if (rank == 0) std::puts("bad_movements: ok");
  return 0;
}
