// Where MPICH's module mpi_f08 calls PMPI itself, so that nobody below it sees a call: what has no
// buffers. (mpif.h, the module mpi and everything else of mpi_f08 call the functions of C.)

#include <dlfcn.h>
#include <mpi.h>

#include "preload/nonblocking_calls.h"
#include "preload/session.h"
#include "preload/settings.h"

using hycoll::preload::leaders_need_threads;
using hycoll::preload::Session;

namespace {

/// MPICH's own function of this name.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

void mpi_init_thread_f08_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  const MPI_Fint level = leaders_need_threads() ? MPI_THREAD_MULTIPLE : *required;
  next<void(const MPI_Fint*, MPI_Fint*, MPI_Fint*)>(__func__)(&level, provided, error);
  Session::instance().open();
}

void mpi_init_f08_(MPI_Fint* error) {
  if (leaders_need_threads()) {
    const MPI_Fint required = MPI_THREAD_MULTIPLE;
    MPI_Fint provided = MPI_THREAD_SINGLE;
    return mpi_init_thread_f08_(&required, &provided, error);
  }
  next<void(MPI_Fint*)>(__func__)(error);
  Session::instance().open();
}

void mpi_barrier_f08_(const MPI_Fint* communicator, MPI_Fint* error) {
  const int code = MPI_Barrier(PMPI_Comm_f2c(*communicator));
  if (error != nullptr) *error = code;
}

void mpi_ibarrier_f08_(const MPI_Fint* communicator, MPI_Fint* request, MPI_Fint* error) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int code = MPI_Ibarrier(PMPI_Comm_f2c(*communicator), &made);
  if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(made);
  if (error != nullptr) *error = code;
}

void mpi_request_get_status_f08_(const MPI_Fint* request, void* flag, void* status,
                                 MPI_Fint* error) {
  hycoll::preload::NonblockingCalls::instance().poll();  // see MPI_Request_get_status
  next<void(const MPI_Fint*, void*, void*, MPI_Fint*)>(__func__)(request, flag, status, error);
}

}  // extern "C"
