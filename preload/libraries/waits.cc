// How waits go on with hycoll's calls themselves: they test again and again, and go on in between.
// Where waits are to sleep, and calls of hycoll's are under way, for the MPI libraries' own spin;
// and, where the MPI library does not poll for them, with starts of persistent calls. Fortran's
// interfaces and tools get here by the names for profiling.

#include <mpi.h>

#include "preload/session/next.h"
#include "preload/session/nonblocking_calls.h"
#include "preload/session/persistent_calls.h"
#include "threading/memory/waiter.h"

using hycoll::Waiter;
using hycoll::WaitPolicy;
using hycoll::preload::NonblockingCalls;
using hycoll::preload::PersistentCalls;
using hycoll::preload::polls_for_persistent_calls;

namespace {

bool is_to_go_on() {
  const NonblockingCalls& calls = NonblockingCalls::instance();
  return (calls.rest() == WaitPolicy::Rest::sleep && calls.is_busy()) ||
         (PersistentCalls::are_under_way() && !polls_for_persistent_calls());
}

/// Calls test(is_over), which returns MPI's error code, until that fails or is over.
template <class Test>
int wait_by(const Test& test) {
  // Each test looks at the network, which takes longer.
  constexpr int kPollsPerTest = 16;
  NonblockingCalls& calls = NonblockingCalls::instance();
  const bool is_to_sleep = calls.rest() == WaitPolicy::Rest::sleep;
  Waiter waiter(WaitPolicy{}.with_rest(calls.rest()));
  calls.poll();
  for (;;) {
    int is_over = 0;
    const int code = test(&is_over);
    if (code != MPI_SUCCESS || is_over != 0) return code;
    if (is_to_sleep && waiter.turn()) {
      waiter.give_way();
      calls.poll();
      continue;
    }
    for (int polls = 0; polls < kPollsPerTest && calls.poll() == 0;) ++polls;
  }
}

}  // namespace

extern "C" {

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Wait);
  if (!is_to_go_on()) return library(request, status);
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
  while (i < count && is_to_go_on()) {
    if (wait_by(first_is_over) != MPI_SUCCESS) break;
    ++i;
  }
  return library(count, requests, statuses);
}

int PMPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Waitany);
  if (!is_to_go_on()) return library(count, requests, index, status);
  static auto* const test = HYCOLL_PRELOAD_LIBRARY(Testany);
  return wait_by([&](int* is_over) { return test(count, requests, index, is_over, status); });
}

int PMPI_Waitsome(int count, MPI_Request* requests, int* completed, int* indices,
                  MPI_Status* statuses) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Waitsome);
  if (!is_to_go_on()) {
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
