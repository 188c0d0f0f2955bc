// Requests that Open MPI completes while it waits for anything: a function that its progress loop
// calls, beside those of its own transports.

#include <dlfcn.h>
#include <mpi.h>

#include <atomic>

#include "preload/session/nonblocking_calls.h"

namespace hycoll::preload {
namespace {

using Callback = int (*)();
using RegisterFunction = int(Callback);

/// Null in versions that lack it.
RegisterFunction* find(const char* name) {
  return reinterpret_cast<RegisterFunction*>(dlsym(RTLD_DEFAULT, name));
}

std::atomic<bool> is_registered{false};

int poll() { return NonblockingCalls::instance().poll(); }

NonblockingCall& call_of(void* state) { return *static_cast<NonblockingCall*>(state); }

int query(void* state, MPI_Status* status) { return call_of(state).answer(status); }

int free_call(void* state) {
  call_of(state).give_up();
  return MPI_SUCCESS;
}

/// MPI has no way to cancel a collective.
int cancel(void* /*state*/, int /*is_complete*/) { return MPI_SUCCESS; }

}  // namespace

bool has_request_hooks() {
  return find("opal_progress_register") != nullptr && find("opal_progress_unregister") != nullptr;
}

void install_request_hooks() {
  // One thread registers; any order will do, for the library has a lock of its own.
  if (!is_registered.exchange(true, std::memory_order_relaxed)) {
    find("opal_progress_register")(&poll);
  }
}

int start_request(NonblockingCall& call) {
  install_request_hooks();
  return PMPI_Grequest_start(&query, &free_call, &cancel, &call, &call.request);
}

bool polls_for_persistent_calls() noexcept { return true; }

bool frees_failed_requests() noexcept { return true; }

void remove_request_hooks() {
  if (is_registered.exchange(false, std::memory_order_relaxed)) {
    find("opal_progress_unregister")(&poll);
  }
}

}  // namespace hycoll::preload
