// What MPI promises besides results: error handlers, attributes, progress, many communicators,
// intercommunicators.

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;

int handled = 0;
int copied = 0;

void count_errors(MPI_Comm* /*communicator*/, int* /*code*/, ...) { ++handled; }

int count_copies(MPI_Comm /*old*/, int /*key*/, void* /*state*/, void* /*value*/, void* /*copy*/,
                 int* flag) {
  ++copied;
  *flag = 0;
  return MPI_SUCCESS;
}

int sum_over(MPI_Comm communicator, int value) {
  int sum = -1;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, communicator);
  return sum;
}

/// Enough calls for hycoll to serve the communicator.
void warm_up(MPI_Comm communicator) {
  for (int i = 0; i < 20; ++i) {
    REQUIRE_HERE(sum_over(communicator, i) == i * size_of(communicator));
  }
}

void errors_reach_the_handler(MPI_Comm communicator) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(&count_errors, &handler);
  MPI_Comm_set_errhandler(communicator, handler);
  std::vector<double> values(8, 1.0);
  // Refused by MPI.
  int code = MPI_Allreduce(MPI_IN_PLACE, values.data(), 4, MPI_DOUBLE, MPI_BAND, communicator);
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  REQUIRE_HERE(error_class == MPI_ERR_OP && handled == 1);
  // Refused by whoever serves the call: the buffers overlap. MPICH ends a job of one process for
  // it.
  if (size_of(communicator) == 1) {
    MPI_Errhandler_free(&handler);
    return;
  }
  code = MPI_Allreduce(values.data(), values.data() + 2, 4, MPI_DOUBLE, MPI_SUM, communicator);
  if (code != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    REQUIRE_HERE(handled == 2);
    REQUIRE_HERE(MPI_Error_string(code, text, &length) == MPI_SUCCESS && length > 0);
    if (rank_of(communicator) == 0) std::printf("error: %s\n", text);
  }
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
  REQUIRE_HERE(sum_over(communicator, 3) == 3 * size_of(communicator));
}

void attributes_are_left_alone(MPI_Comm communicator) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(&count_copies, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm marked = MPI_COMM_NULL;
  MPI_Comm_dup(communicator, &marked);
  MPI_Comm_set_attr(marked, key, nullptr);
  warm_up(marked);
  REQUIRE_HERE(copied == 0);
  MPI_Comm_delete_attr(marked, key);
  MPI_Comm_free(&marked);
  MPI_Comm_free_keyval(&key);
}

/// A process that waits in a collective goes on serving its messages.
void messages_go_on(MPI_Comm communicator) {
  constexpr int kCount = 1 << 20;
  const int rank = rank_of(communicator);
  std::vector<double> outgoing(kCount, rank);
  std::vector<double> incoming(kCount, -1.0);
  if (size_of(communicator) < 2) return;
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) MPI_Isend(outgoing.data(), kCount, MPI_DOUBLE, 1, 5, communicator, &request);
  if (rank == 1) {
    MPI_Recv(incoming.data(), kCount, MPI_DOUBLE, 0, 5, communicator, MPI_STATUS_IGNORE);
    REQUIRE_HERE(incoming.back() == 0.0);
  }
  REQUIRE_HERE(sum_over(communicator, 1) == size_of(communicator));
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  // The other way round: the late one sends to those that wait.
  if (rank == 0) MPI_Irecv(incoming.data(), kCount, MPI_DOUBLE, 1, 6, communicator, &request);
  if (rank == 1) MPI_Send(outgoing.data(), kCount, MPI_DOUBLE, 0, 6, communicator);
  MPI_Barrier(communicator);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) REQUIRE_HERE(incoming.back() == 1.0);
}

/// A nonblocking collective under way beside blocking ones.
void nonblocking_ones_go_on(MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  int one = 1;
  int sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, communicator, &request);
  if (rank != 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  REQUIRE_HERE(sum_over(communicator, 2) == 2 * size_of(communicator));
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  REQUIRE_HERE(sum == size_of(communicator));

  MPI_Request barrier = MPI_REQUEST_NULL;
  MPI_Ibarrier(communicator, &barrier);
  for (int is_over = 0; rank % 2 == 1 && is_over == 0;) {
    MPI_Test(&barrier, &is_over, MPI_STATUS_IGNORE);
    std::this_thread::yield();
  }
  MPI_Barrier(communicator);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
}

/// A rank that is late, while another one polls for its message before it enters.
void late_ranks_are_waited_for(MPI_Comm communicator) {
  const int rank = rank_of(communicator);
  const int last = size_of(communicator) - 1;
  int word = 7;
  if (rank == last) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (int peer = 1; peer < last; ++peer) MPI_Send(&word, 1, MPI_INT, peer, 9, communicator);
  } else if (rank != 0) {
    for (int is_there = 0; is_there == 0;) {
      MPI_Iprobe(last, 9, communicator, &is_there, MPI_STATUS_IGNORE);
      std::this_thread::yield();
    }
    MPI_Recv(&word, 1, MPI_INT, last, 9, communicator, MPI_STATUS_IGNORE);
  }
  REQUIRE_HERE(sum_over(communicator, word) == 7 * (last + 1));
}

void intercommunicators_work() {
  const int rank = rank_of(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  if (size < 2) return;
  const int side = rank < size / 2 ? 0 : 1;
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &here);
  MPI_Intercomm_create(here, 0, MPI_COMM_WORLD, side == 0 ? size / 2 : 0, 4, &both);
  const int others = side == 0 ? size - size / 2 : size / 2;
  for (int i = 0; i < 20; ++i) REQUIRE_HERE(sum_over(both, 1) == others);
  MPI_Comm_free(&both);
  MPI_Comm_free(&here);
}

/// Communicators come and go, used a little or a lot.
void communicators_come_and_go(int count) {
  for (int i = 0; i < count; ++i) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    const int calls = i % 50 == 0 ? 20 : 1;
    for (int call = 0; call < calls; ++call) {
      REQUIRE_HERE(sum_over(copy, i) == i * size_of(MPI_COMM_WORLD));
    }
    MPI_Comm_free(&copy);
  }
}

/// Where the datatype of bottom_is_an_address has its integer, from an element's origin.
MPI_Aint displacement = 0;

void add_displaced(void* input, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto at = [](void* origin, int element) {
    const auto address = reinterpret_cast<std::uintptr_t>(origin) +
                         static_cast<std::uintptr_t>(displacement) +
                         static_cast<std::uintptr_t>(element) * sizeof(int);
    return reinterpret_cast<int*>(address);
  };
  for (int i = 0; i < *count; ++i) *at(inout, i) += *at(input, i);
}

/// An address in the datatype, and MPI_BOTTOM for the buffer, on one rank; ordinary ones elsewhere.
void bottom_is_an_address(MPI_Comm communicator) {
  const int size = size_of(communicator);
  const bool by_address = rank_of(communicator) == 0;
  int value = 0;
  if (by_address) MPI_Get_address(&value, &displacement);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(1, 1, &displacement, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op sum = MPI_OP_NULL;
  MPI_Op_create(&add_displaced, 1, &sum);
  for (int i = 0; i < 20; ++i) {
    value = rank_of(communicator) + i;
    MPI_Allreduce(MPI_IN_PLACE, by_address ? MPI_BOTTOM : &value, 1, type, sum, communicator);
    REQUIRE_HERE(value == size * i + size * (size - 1) / 2);
  }
  MPI_Op_free(&sum);
  MPI_Type_free(&type);
}

/// A program's own choice of what errors do is asked for at the time of the error.
void handlers_may_change(MPI_Comm communicator) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(&count_errors, &handler);
  int value = 1;
  const auto refused = [&] {
    const int code = MPI_Reduce(&value, nullptr, 1, MPI_INT, MPI_SUM, 1000, communicator);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    return code != MPI_SUCCESS && error_class != MPI_SUCCESS;
  };
  const int before = handled;
  for (int i = 0; i < 3; ++i) {
    MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
    REQUIRE_HERE(refused() && handled == before + i);
    MPI_Comm_set_errhandler(communicator, handler);
    REQUIRE_HERE(refused() && handled == before + i + 1);
  }
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
  REQUIRE_HERE(sum_over(communicator, 3) == 3 * size_of(communicator));
}

/// Many at once, more than hycoll serves: the rest goes to the MPI library.
void many_communicators_live(int count) {
  std::vector<MPI_Comm> copies(static_cast<std::size_t>(count), MPI_COMM_NULL);
  for (MPI_Comm& copy : copies) MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (const MPI_Comm copy : copies) warm_up(copy);
  for (MPI_Comm& copy : copies) MPI_Comm_free(&copy);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int comings_and_goings = argc > 1 ? std::atoi(argv[1]) : 500;
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  warm_up(own);
  errors_reach_the_handler(own);
  attributes_are_left_alone(own);
  handlers_may_change(own);
  bottom_is_an_address(own);
  messages_go_on(own);
  nonblocking_ones_go_on(own);
  late_ranks_are_waited_for(own);
  MPI_Comm_free(&own);
  intercommunicators_work();
  communicators_come_and_go(comings_and_goings);
  many_communicators_live(140);
  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) std::puts("semantics: ok");
  return 0;
}
