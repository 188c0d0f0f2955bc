// What the program does with persistent requests, some of which are hycoll's (persistent_calls.h).
// Fortran's interfaces and tools get here by the names for profiling.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "preload/session/next.h"
#include "preload/session/persistent_calls.h"

using hycoll::preload::next;
using hycoll::preload::PersistentCall;
using hycoll::preload::PersistentCalls;

namespace {

PersistentCall* call_of(const MPI_Request* request) {
  return request == nullptr ? nullptr : PersistentCalls::find(*request);
}

bool has_calls(int count, const MPI_Request* requests) {
  if (count <= 0 || requests == nullptr) return false;
  return std::ranges::any_of(
      std::span(requests, static_cast<std::size_t>(count)),
      [](MPI_Request request) { return PersistentCalls::find(request) != nullptr; });
}

}  // namespace

extern "C" {

int PMPI_Start(MPI_Request* request) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Start);
  PersistentCall* const call = call_of(request);
  return call == nullptr ? library(request) : call->start(request);
}

int PMPI_Startall(int count, MPI_Request* requests) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Startall);
  if (!has_calls(count, requests)) return library(count, requests);
  for (int i = 0; i < count; ++i) {
    const int code = PMPI_Start(requests + i);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int PMPI_Request_free(MPI_Request* request) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Request_free);
  PersistentCall* const call = call_of(request);
  return call == nullptr ? library(request) : PersistentCalls::instance().free(*call, request);
}

/// MPI has no way to cancel a collective, but would cancel what its request stands for.
int PMPI_Cancel(MPI_Request* request) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Cancel);
  return call_of(request) == nullptr ? library(request) : MPI_SUCCESS;
}

HYCOLL_PRELOAD_BY_PROFILING_NAME(Start, (MPI_Request * request), (request))
HYCOLL_PRELOAD_BY_PROFILING_NAME(Startall, (int count, MPI_Request* requests), (count, requests))
HYCOLL_PRELOAD_BY_PROFILING_NAME(Request_free, (MPI_Request * request), (request))
HYCOLL_PRELOAD_BY_PROFILING_NAME(Cancel, (MPI_Request * request), (request))

}  // extern "C"
