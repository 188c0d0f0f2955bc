// How MPICH's tests go on with starts of persistent calls, whose requests it does not poll for.
// Fortran's interfaces and tools get here by the names for profiling.

#include <mpi.h>

#include "preload/session/next.h"
#include "preload/session/nonblocking_calls.h"
#include "preload/session/persistent_calls.h"

using hycoll::preload::NonblockingCalls;
using hycoll::preload::PersistentCalls;

namespace {

void go_on() {
  if (PersistentCalls::are_under_way()) NonblockingCalls::instance().poll();
}

}  // namespace

extern "C" {

int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Test);
  go_on();
  return library(request, flag, status);
}

int PMPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Testall);
  go_on();
  return library(count, requests, flag, statuses);
}

int PMPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Testany);
  go_on();
  return library(count, requests, index, flag, status);
}

int PMPI_Testsome(int count, MPI_Request* requests, int* completed, int* indices,
                  MPI_Status* statuses) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Testsome);
  go_on();
  return library(count, requests, completed, indices, statuses);
}

/// MPICH does not poll for generalized requests here either.
int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Request_get_status);
  NonblockingCalls::instance().poll();
  return library(request, flag, status);
}

HYCOLL_PRELOAD_BY_PROFILING_NAME(Test, (MPI_Request * request, int* flag, MPI_Status* status),
                                 (request, flag, status))
HYCOLL_PRELOAD_BY_PROFILING_NAME(Testall,
                                 (int count, MPI_Request* requests, int* flag,
                                  MPI_Status* statuses),
                                 (count, requests, flag, statuses))
HYCOLL_PRELOAD_BY_PROFILING_NAME(Testany,
                                 (int count, MPI_Request* requests, int* index, int* flag,
                                  MPI_Status* status),
                                 (count, requests, index, flag, status))
HYCOLL_PRELOAD_BY_PROFILING_NAME(Testsome,
                                 (int count, MPI_Request* requests, int* completed, int* indices,
                                  MPI_Status* statuses),
                                 (count, requests, completed, indices, statuses))
HYCOLL_PRELOAD_BY_PROFILING_NAME(Request_get_status,
                                 (MPI_Request request, int* flag, MPI_Status* status),
                                 (request, flag, status))
}  // extern "C"
