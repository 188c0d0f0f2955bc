// A profiling tool: counts calls of MPI's functions, through its profiling interface. Preloaded
// before hycoll, it stands above.

#include "tests/preload/libraries/tool.h"

#include <mpi.h>

#include <array>
#include <atomic>

namespace {

std::array<std::atomic<long>, kToolCounters> counters{};

void count(ToolCounter counter) {
  counters[static_cast<std::size_t>(counter)].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

extern "C" {

long tool_calls(ToolCounter counter) {
  return counters[static_cast<std::size_t>(counter)].load(std::memory_order_relaxed);
}

int MPI_Allreduce(const void* input, void* output, int elements, MPI_Datatype type, MPI_Op op,
                  MPI_Comm communicator) {
  count(ToolCounter::allreduce);
  return PMPI_Allreduce(input, output, elements, type, op, communicator);
}

int MPI_Isend(const void* buffer, int elements, MPI_Datatype type, int peer, int tag,
              MPI_Comm communicator, MPI_Request* request) {
  count(ToolCounter::isend);
  return PMPI_Isend(buffer, elements, type, peer, tag, communicator, request);
}

int MPI_Irecv(void* buffer, int elements, MPI_Datatype type, int peer, int tag,
              MPI_Comm communicator, MPI_Request* request) {
  count(ToolCounter::irecv);
  return PMPI_Irecv(buffer, elements, type, peer, tag, communicator, request);
}

int MPI_Iprobe(int peer, int tag, MPI_Comm communicator, int* flag, MPI_Status* status) {
  count(ToolCounter::iprobe);
  return PMPI_Iprobe(peer, tag, communicator, flag, status);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  count(ToolCounter::test);
  return PMPI_Test(request, flag, status);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  count(ToolCounter::wait);
  return PMPI_Wait(request, status);
}

int MPI_Comm_split(MPI_Comm communicator, int color, int key, MPI_Comm* made) {
  count(ToolCounter::comm_split);
  return PMPI_Comm_split(communicator, color, key, made);
}

int MPI_Comm_dup_with_info(MPI_Comm communicator, MPI_Info info, MPI_Comm* made) {
  count(ToolCounter::comm_dup_with_info);
  return PMPI_Comm_dup_with_info(communicator, info, made);
}

int MPI_Comm_free(MPI_Comm* communicator) {
  count(ToolCounter::comm_free);
  return PMPI_Comm_free(communicator);
}

int MPI_Comm_set_errhandler(MPI_Comm communicator, MPI_Errhandler handler) {
  count(ToolCounter::comm_set_errhandler);
  return PMPI_Comm_set_errhandler(communicator, handler);
}

}  // extern "C"
