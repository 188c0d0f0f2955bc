// How MPICH's waits and tests go on with starts of persistent calls, whose requests it does not
// poll for: while some are under way, a wait tests again and again, and hycoll's calls go on in
// between. Fortran's interfaces and tools get here by the names for profiling.

#include <mpi.h>

#include "preload/session/next.h"
#include "preload/session/nonblocking_calls.h"
#include "preload/session/persistent_calls.h"

using hycoll::preload::next;
using hycoll::preload::NonblockingCalls;
using hycoll::preload::PersistentCalls;

namespace {

/// Calls test(is_over), which returns MPI's error code, until that fails or is over.
template <class Test>
int wait_by(const Test& test) {
  // Each test looks at the network, which takes longer.
  constexpr int kPollsPerTest = 16;
  NonblockingCalls& calls = NonblockingCalls::instance();
  calls.poll();
  for (;;) {
    int is_over = 0;
    const int code = test(&is_over);
    if (code != MPI_SUCCESS || is_over != 0) return code;
    for (int polls = 0; polls < kPollsPerTest && calls.poll() == 0;) ++polls;
  }
}

void go_on() {
  if (PersistentCalls::are_under_way()) NonblockingCalls::instance().poll();
}

}  // namespace

#define HYCOLL_PRELOAD_LIBRARY(name) next<decltype(PMPI_##name)>("PMPI_" #name)

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

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Wait);
  if (!PersistentCalls::are_under_way()) return library(request, status);
  static auto* const test = HYCOLL_PRELOAD_LIBRARY(Test);
  return wait_by([&](int* is_over) { return test(request, is_over, status); });
}

int PMPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Waitall);
  static auto* const look = HYCOLL_PRELOAD_LIBRARY(Request_get_status);
  // Not by Testall, which fails in MPICH 4.0.2 where some of its own persistent collectives are
  // over, and others are not.
  int i = 0;
  const auto first_is_over = [&](int* is_over) {
    return look(requests[i], is_over, MPI_STATUS_IGNORE);
  };
  while (i < count && PersistentCalls::are_under_way()) {
    if (wait_by(first_is_over) != MPI_SUCCESS) break;
    ++i;
  }
  return library(count, requests, statuses);
}

int PMPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Waitany);
  if (!PersistentCalls::are_under_way()) return library(count, requests, index, status);
  static auto* const test = HYCOLL_PRELOAD_LIBRARY(Testany);
  return wait_by([&](int* is_over) { return test(count, requests, index, is_over, status); });
}

int PMPI_Waitsome(int count, MPI_Request* requests, int* completed, int* indices,
                  MPI_Status* statuses) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Waitsome);
  if (!PersistentCalls::are_under_way()) {
    return library(count, requests, completed, indices, statuses);
  }
  static auto* const test = HYCOLL_PRELOAD_LIBRARY(Testsome);
  return wait_by([&](int* is_over) {
    const int code = test(count, requests, completed, indices, statuses);
    // MPI_UNDEFINED, which ends the wait too, if none of them is active.
    *is_over = code == MPI_SUCCESS && *completed != 0 ? 1 : 0;
    return code;
  });
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
HYCOLL_PRELOAD_BY_PROFILING_NAME(Wait, (MPI_Request * request, MPI_Status* status),
                                 (request, status))
HYCOLL_PRELOAD_BY_PROFILING_NAME(Waitall, (int count, MPI_Request* requests, MPI_Status* statuses),
                                 (count, requests, statuses))
HYCOLL_PRELOAD_BY_PROFILING_NAME(Waitany,
                                 (int count, MPI_Request* requests, int* index, MPI_Status* status),
                                 (count, requests, index, status))
HYCOLL_PRELOAD_BY_PROFILING_NAME(Waitsome,
                                 (int count, MPI_Request* requests, int* completed, int* indices,
                                  MPI_Status* statuses),
                                 (count, requests, completed, indices, statuses))

}  // extern "C"
