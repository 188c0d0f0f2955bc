// Stands for an MPI library without MPI_THREAD_MULTIPLE, preloaded below hycoll.

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>

extern "C" int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  using InitThread = int(int*, char***, int, int*);
  auto* const next = reinterpret_cast<InitThread*>(dlsym(RTLD_NEXT, "PMPI_Init_thread"));
  return next(argc, argv, std::min(required, static_cast<int>(MPI_THREAD_SERIALIZED)), provided);
}
