// MPI_Init and MPI_Init_thread of the program. MPI_Finalize needs no function: MPI calls the
// session at its beginning. And the ends of communicators.

#include <mpi.h>

#include "preload/session.h"
#include "preload/settings.h"

using hycoll::preload::leaders_need_threads;
using hycoll::preload::Session;

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  const int code = leaders_need_threads()
                       ? PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                       : PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) Session::instance().open();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int level = leaders_need_threads() ? MPI_THREAD_MULTIPLE : required;
  const int code = PMPI_Init_thread(argc, argv, level, provided);
  if (code == MPI_SUCCESS) Session::instance().open();
  return code;
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
