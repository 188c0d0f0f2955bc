// The program's broadcasts, blocking, nonblocking and persistent.

#include <mpi.h>

#include <cstddef>

#include "collectives/api/hycoll.h"
#include "preload/routines/persistent_forms.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

template <class Count>
Candidate candidate(Routine routine, void* buffer, Count count, MPI_Datatype type, int root,
                    MPI_Comm communicator) {
  // Of an intercommunicator's, MPI does not look at what processes pass that do not take part.
  const bool takes_part = root != MPI_PROC_NULL || rank_in(communicator) >= 0;
  return {.routine = routine,
          .communicator = communicator,
          .element_count = takes_part ? count : 0,
          .type = takes_part ? type : MPI_BYTE,
          .root = root,
          .mistake = takes_part ? mistake_in_output({buffer, count, type}) : Mistake::none};
}

template <class Count>
Call call(void* buffer, Count count, MPI_Datatype type, int root) {
  return calls::broadcast(buffer, static_cast<std::size_t>(count), ElementType(type), root);
}

template <class Count, class Library>
int bcast(void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm communicator,
          const Library& library) {
  return serve(
      candidate(Routine::bcast, buffer, count, type, root, communicator),
      [&] { return call(buffer, count, type, root); }, library);
}

template <class Count, class Library>
int ibcast(void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm communicator,
           MPI_Request* request, const Library& library) {
  return serve_nonblocking(
      candidate(Routine::ibcast, buffer, count, type, root, communicator), request,
      [&](PendingCall& /*pending*/) { return call(buffer, count, type, root); }, library);
}

template <class Count, class Library>
int bcast_init(void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm communicator,
               MPI_Request* request, const Library& library) {
  return serve_persistent(
      candidate(Routine::bcast_init, buffer, count, type, root, communicator), request,
      [&](PersistentCall& /*persistent*/) { return call(buffer, count, type, root); }, library);
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

#define HYCOLL_PRELOAD_PERSISTENT_BROADCASTS(prefix, suffix, count_type, displacement_type)        \
  int prefix##_Bcast_init##suffix(void* buffer, count_type count, MPI_Datatype type, int root,     \
                                  MPI_Comm communicator, MPI_Info info, MPI_Request* request) {    \
    return preload::bcast_init<count_type>(buffer, count, type, root, communicator, request, [&] { \
      return P##prefix##_Bcast_init##suffix(buffer, count, type, root, communicator, info,         \
                                            request);                                              \
    });                                                                                            \
  }

extern "C" {

HYCOLL_PRELOAD_BROADCASTS(, int)
#if MPI_VERSION >= 4
HYCOLL_PRELOAD_BROADCASTS(_c, MPI_Count)
#endif
HYCOLL_PRELOAD_PERSISTENT_FORMS(HYCOLL_PRELOAD_PERSISTENT_BROADCASTS)

}  // extern "C"
