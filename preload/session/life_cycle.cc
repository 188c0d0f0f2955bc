// How the session begins: in MPI_Init and MPI_Init_thread, and in PMPI_Init and PMPI_Init_thread,
// by which a tool above this library initialises MPI, and Fortran's interfaces. A tool below it,
// which wraps MPI_Init itself, is called on the way. MPI calls the session at the beginning of
// MPI_Finalize, as it deletes the attributes of MPI_COMM_SELF. And the ends of communicators, by
// their names for profiling too: tools and Fortran's interfaces call those.

#include <mpi.h>

#include <cstdio>
#include <utility>

#include "preload/session/dying_communicator.h"
#include "preload/session/next.h"
#include "preload/session/other_library.h"
#include "preload/session/session.h"
#include "preload/session/settings.h"

using hycoll::preload::DyingCommunicator;
using hycoll::preload::is_first_process;
using hycoll::preload::leaders_need_threads;
using hycoll::preload::next;
using hycoll::preload::note_finalize;
using hycoll::preload::requested_report;
using hycoll::preload::Session;
using hycoll::preload::step_out_for_other_library;
using hycoll::preload::tool_below;

namespace {

using Init = int(int*, char***);
using InitThread = int(int*, char***, int, int*);

/// Returns the code, after opening the session if MPI has been initialised.
int opened(int code) {
  if (code == MPI_SUCCESS) Session::instance().open();
  return code;
}

/// Calls end(), with which the MPI library ends the communicator. Returns the code.
template <class End>
int ended(MPI_Comm communicator, const End& end) {
  Session::instance().end_retired();
  const DyingCommunicator dying(communicator);
  Session::instance().overlook(communicator);
  return end();
}

#if MPI_VERSION >= 4
/// The report of a program that has not called MPI_Init or its kin. One process says it, once.
void report_unserved_sessions() {
  static bool is_said = false;
  int has_world = 0;
  PMPI_Initialized(&has_world);
  if (has_world != 0 || requested_report().empty()) return;
  if (std::exchange(is_said, true) || !is_first_process()) return;
  std::fputs(
      "hycoll (preloaded): the program has called MPI_Session_init, and not MPI_Init: the MPI "
      "library has served all its collectives\n",
      stderr);
}
#endif

}  // namespace

extern "C" {

int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  step_out_for_other_library(__builtin_return_address(0));
  const int level = leaders_need_threads() ? MPI_THREAD_MULTIPLE : required;
  return opened(next<InitThread>("PMPI_Init_thread")(argc, argv, level, provided));
}

int PMPI_Init(int* argc, char*** argv) {
  step_out_for_other_library(__builtin_return_address(0));
  int provided = MPI_THREAD_SINGLE;
  if (leaders_need_threads()) {
    return PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  }
  return opened(next<Init>("PMPI_Init")(argc, argv));
}

int MPI_Init(int* argc, char*** argv) {
  step_out_for_other_library(__builtin_return_address(0));
  Init* const tool = tool_below<Init>("MPI_Init", "PMPI_Init");
  return tool == nullptr ? PMPI_Init(argc, argv) : opened(tool(argc, argv));
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  step_out_for_other_library(__builtin_return_address(0));
  auto* const tool = tool_below<InitThread>("MPI_Init_thread", "PMPI_Init_thread");
  return tool == nullptr ? PMPI_Init_thread(argc, argv, required, provided)
                         : opened(tool(argc, argv, required, provided));
}

/// Does not wait: calls that are under way complete, and so their requests.
int PMPI_Comm_free(MPI_Comm* communicator) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Comm_free);
  if (communicator == nullptr) return library(communicator);
  return ended(*communicator, [&] { return library(communicator); });
}

int PMPI_Comm_disconnect(MPI_Comm* communicator) {
  static auto* const library = HYCOLL_PRELOAD_LIBRARY(Comm_disconnect);
  if (communicator == nullptr) return library(communicator);
  Session::instance().finish_nonblocking(*communicator);
  return ended(*communicator, [&] { return library(communicator); });
}

int PMPI_Finalize() {
  note_finalize();
  return ended(MPI_COMM_SELF, HYCOLL_PRELOAD_LIBRARY(Finalize));
}

#if MPI_VERSION >= 4
int MPI_Session_finalize(MPI_Session* session) {
  static auto* const below = next<decltype(MPI_Session_finalize)>("MPI_Session_finalize");
  report_unserved_sessions();
  return below(session);
}
#endif

HYCOLL_PRELOAD_BY_PROFILING_NAME(Comm_free, (MPI_Comm * communicator), (communicator))
HYCOLL_PRELOAD_BY_PROFILING_NAME(Comm_disconnect, (MPI_Comm * communicator), (communicator))
HYCOLL_PRELOAD_BY_PROFILING_NAME(Finalize, (), ())

}  // extern "C"
