// Requests that MPICH completes while it waits for them: its generalized requests with a function
// that polls. It calls that for the requests that a thread waits or tests for, and for no others
// (waits.cc, tests_mpich.cc).

#include <dlfcn.h>
#include <mpi.h>

#include "preload/session/nonblocking_calls.h"

namespace hycoll::preload {
namespace {

using StartFunction = decltype(PMPIX_Grequest_start);

/// Null in libraries of MPICH's family that lack it.
StartFunction* start_function() {
  static auto* const function =
      reinterpret_cast<StartFunction*>(dlsym(RTLD_DEFAULT, "PMPIX_Grequest_start"));
  return function;
}

NonblockingCall& call_of(void* state) { return *static_cast<NonblockingCall*>(state); }

int query(void* state, MPI_Status* status) { return call_of(state).answer(status); }

int free_call(void* state) {
  call_of(state).give_up();
  return MPI_SUCCESS;
}

/// MPI has no way to cancel a collective.
int cancel(void* /*state*/, int /*is_complete*/) { return MPI_SUCCESS; }

/// MPI_Wait does nothing else until the request has completed: it looks at no message.
int poll(void* /*state*/, MPI_Status* /*status*/) {
  constexpr int kPollsPerLook = 16;
  thread_local int polls = 0;
  if (NonblockingCalls::instance().poll() > 0) {
    polls = 0;
  } else if (++polls % kPollsPerLook == 0) {
    drive_network();
  }
  return MPI_SUCCESS;
}

int wait(int count, void** states, double /*timeout*/, MPI_Status* /*status*/) {
  for (int i = 0; i < count; ++i) NonblockingCalls::instance().finish(call_of(states[i]));
  return MPI_SUCCESS;
}

}  // namespace

bool has_request_hooks() { return start_function() != nullptr; }

void install_request_hooks() {}

int start_request(NonblockingCall& call) {
  return start_function()(&query, &free_call, &cancel, &poll, &wait, &call, &call.request);
}

bool polls_for_persistent_calls() noexcept { return false; }

bool frees_failed_requests() noexcept { return false; }

void remove_request_hooks() {}

}  // namespace hycoll::preload
