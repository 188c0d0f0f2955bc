// Where MPICH's module mpi_f08 calls PMPI itself, so that nobody below it sees a call: what has no
// buffers. (mpif.h, the module mpi and everything else of mpi_f08 call the functions of C.)

#include <dlfcn.h>
#include <mpi.h>

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

}  // extern "C"
