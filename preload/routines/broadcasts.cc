// The program's broadcasts, blocking and nonblocking.

#include <mpi.h>

#include <cstddef>

#include "collectives/api/hycoll.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

template <class Count>
Candidate candidate(Routine routine, Count count, MPI_Datatype type, MPI_Comm communicator) {
  return {.routine = routine, .communicator = communicator, .element_count = count, .type = type};
}

template <class Count, class Library>
int bcast(void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm communicator,
          const Library& library) {
  return serve(
      candidate(Routine::bcast, count, type, communicator),
      [&] {
        return calls::broadcast(buffer, static_cast<std::size_t>(count), ElementType(type), root);
      },
      library);
}

template <class Count, class Library>
int ibcast(void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm communicator,
           MPI_Request* request, const Library& library) {
  return serve_nonblocking(
      candidate(Routine::ibcast, count, type, communicator), request,
      [&](PendingCall& pending) {
        return calls::broadcast(buffer, static_cast<std::size_t>(count),
                                ElementType(pending.keep(type)), root);
      },
      library);
}

}  // namespace
}  // namespace hycoll::preload

namespace preload = hycoll::preload;

// One function for each form: counts of type int, and of type MPI_Count from MPI 4 on.
#define HYCOLL_PRELOAD_BROADCASTS(suffix, count_type)                                          \
  int MPI_Bcast##suffix(void* buffer, count_type count, MPI_Datatype type, int root,           \
                        MPI_Comm communicator) {                                               \
    return preload::bcast<count_type>(buffer, count, type, root, communicator, [&] {           \
      return PMPI_Bcast##suffix(buffer, count, type, root, communicator);                      \
    });                                                                                        \
  }                                                                                            \
  int MPI_Ibcast##suffix(void* buffer, count_type count, MPI_Datatype type, int root,          \
                         MPI_Comm communicator, MPI_Request* request) {                        \
    return preload::ibcast<count_type>(buffer, count, type, root, communicator, request, [&] { \
      return PMPI_Ibcast##suffix(buffer, count, type, root, communicator, request);            \
    });                                                                                        \
  }

extern "C" {

HYCOLL_PRELOAD_BROADCASTS(, int)
#if MPI_VERSION >= 4
HYCOLL_PRELOAD_BROADCASTS(_c, MPI_Count)
#endif

}  // extern "C"
