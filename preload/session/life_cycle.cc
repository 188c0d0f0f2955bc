// How the session begins: in MPI_Init and MPI_Init_thread, and in PMPI_Init and PMPI_Init_thread,
// by which a tool above this library initialises MPI, and Fortran's interfaces. A tool below it,
// which wraps MPI_Init itself, is called on the way. MPI_Finalize needs no function: MPI calls the
// session at its beginning. And the ends of communicators.

#include <mpi.h>

#include "preload/session/next.h"
#include "preload/session/session.h"
#include "preload/session/settings.h"

using hycoll::preload::leaders_need_threads;
using hycoll::preload::next;
using hycoll::preload::Session;
using hycoll::preload::tool_below;

namespace {

using Init = int(int*, char***);
using InitThread = int(int*, char***, int, int*);

/// Returns the code, after opening the session if MPI has been initialised.
int opened(int code) {
  if (code == MPI_SUCCESS) Session::instance().open();
  return code;
}

}  // namespace

extern "C" {

int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int level = leaders_need_threads() ? MPI_THREAD_MULTIPLE : required;
  return opened(next<InitThread>("PMPI_Init_thread")(argc, argv, level, provided));
}

int PMPI_Init(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  if (leaders_need_threads()) {
    return PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  }
  return opened(next<Init>("PMPI_Init")(argc, argv));
}

int MPI_Init(int* argc, char*** argv) {
  Init* const tool = tool_below<Init>("MPI_Init", "PMPI_Init");
  return tool == nullptr ? PMPI_Init(argc, argv) : opened(tool(argc, argv));
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  auto* const tool = tool_below<InitThread>("MPI_Init_thread", "PMPI_Init_thread");
  return tool == nullptr ? PMPI_Init_thread(argc, argv, required, provided)
                         : opened(tool(argc, argv, required, provided));
}

int MPI_Comm_free(MPI_Comm* communicator) {
  if (communicator != nullptr) Session::instance().finish_nonblocking(*communicator);
  return PMPI_Comm_free(communicator);
}

int MPI_Comm_disconnect(MPI_Comm* communicator) {
  if (communicator != nullptr) Session::instance().finish_nonblocking(*communicator);
  return PMPI_Comm_disconnect(communicator);
}

}  // extern "C"
