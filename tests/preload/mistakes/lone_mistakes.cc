// The root alone makes a mistake in a call, on a communicator for which hycoll has not prepared
// itself. The MPI library raises its error there, and lets the others go, whether they have made
// that call or not: nobody waits for anybody, and what follows is right.

#include <mpi.h>

#include <cstdio>
#include <vector>

#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;

enum class Call { reduce, gather };
enum class Others {
  call,   ///< What the root makes a mistake in.
  do_not  ///< The root tries for itself.
};

/// Makes the call; `is_wrong`: with one buffer for input and output, and of a type that is not
/// committed. Returns MPI's code.
int make(Call call, bool is_wrong, MPI_Datatype uncommitted, MPI_Comm communicator) {
  std::vector<int> input(2, 1);
  std::vector<int> output(2 * static_cast<std::size_t>(size_of(communicator)));
  void* const result = is_wrong ? input.data() : output.data();
  const MPI_Datatype type = is_wrong ? uncommitted : MPI_INT;
  const int count = is_wrong ? 1 : 2;
  if (call == Call::reduce) {
    return MPI_Reduce(input.data(), result, count, type, MPI_SUM, 0, communicator);
  }
  return MPI_Gather(input.data(), count, type, result, count, type, 0, communicator);
}

void require_together(MPI_Comm communicator) {
  const int size = size_of(communicator);
  for (int round = 0; round < 20; ++round) {
    programs::require_sum(communicator, round);
    int told = rank_of(communicator) + round;
    MPI_Bcast(&told, 1, MPI_INT, round % size, communicator);
    REQUIRE_HERE(told == round % size + round);
    MPI_Barrier(communicator);
  }
}

/// On a communicator of its own.
void play(Call call, Others others, MPI_Datatype uncommitted) {
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  const bool is_root = rank_of(communicator) == 0;
  if (is_root || others == Others::call) {
    const int code = make(call, is_root, uncommitted, communicator);
    REQUIRE_HERE((code != MPI_SUCCESS) == is_root);
  }
  require_together(communicator);
  MPI_Comm_free(&communicator);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  for (const Call call : {Call::reduce, Call::gather}) {
    for (const Others others : {Others::call, Others::do_not}) play(call, others, uncommitted);
  }
  // The last one on MPI_COMM_WORLD itself, of which the root takes leave in MPI_Finalize.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  make(Call::reduce, rank_of(MPI_COMM_WORLD) == 0, uncommitted, MPI_COMM_WORLD);
  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Type_free(&uncommitted);
  MPI_Finalize();
  if (rank == 0) std::puts("lone mistakes: ok");
  return 0;
}
