// Broadcasts that cannot be, or that processes do not agree on: everybody gets an error, and the
// next call is right.
// usage: bad_broadcasts alike|differing
//   alike      all processes make the same mistake
//   differing  besides, each another one, or only one of them; needs HYCOLL_CHECK=1

#include <mpi.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "tests/preload/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;

/// What this process passes.
struct Call {
  void* buffer;
  int count;
  int root;
};

/// Makes a bad call, and prints what everybody is told.
void refused(const char* name, const Call& call, MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  const int code = MPI_Bcast(call.buffer, call.count, MPI_INT, call.root, communicator);
  REQUIRE_HERE(code != MPI_SUCCESS);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::printf("%s: rank %d is told: %s\n", name, rank, text);
  std::fflush(stdout);
}

/// A right one.
void carried(MPI_Comm communicator) {
  std::vector<int> values(700, rank_of(communicator) + 5);
  for (int root = 0; root < size_of(communicator); ++root) {
    std::ranges::fill(values, rank_of(communicator) == root ? root + 5 : -1);
    REQUIRE_HERE(MPI_Bcast(values.data(), 700, MPI_INT, root, communicator) == MPI_SUCCESS);
    REQUIRE_HERE(std::ranges::count(values, root + 5) == 700);
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
  }
  MPI_Comm_free(&own);
  MPI_Finalize();
  if (rank == 0) std::puts("bad_broadcasts: ok");
  return 0;
}
