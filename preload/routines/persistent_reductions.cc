// The persistent reductions of the program, and the barrier.

#include <mpi.h>

#include "collectives/api/hycoll.h"
#include "preload/routines/elements.h"
#include "preload/routines/persistent_forms.h"
#include "preload/routines/reduction_requests.h"
#include "preload/routines/serve.h"

namespace preload = hycoll::preload;
using preload::Routine;

#define HYCOLL_PRELOAD_PERSISTENT_REDUCTIONS(prefix, suffix, count_type, displacement_type)        \
  int prefix##_Allreduce_init##suffix(const void* input, void* output, count_type count,           \
                                      MPI_Datatype type, MPI_Op op, MPI_Comm communicator,         \
                                      MPI_Info info, MPI_Request* request) {                       \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::reduction<Routine::allreduce_init>(                                            \
        of, communicator, request, [&] { return of.allreduce(); },                                 \
        [&] {                                                                                      \
          return P##prefix##_Allreduce_init##suffix(input, output, count, type, op, communicator,  \
                                                    info, request);                                \
        });                                                                                        \
  }                                                                                                \
  int prefix##_Reduce_init##suffix(const void* input, void* output, count_type count,              \
                                   MPI_Datatype type, MPI_Op op, int root, MPI_Comm communicator,  \
                                   MPI_Info info, MPI_Request* request) {                          \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::reduction<Routine::reduce_init>(of, root, communicator, request, [&] {         \
      return P##prefix##_Reduce_init##suffix(input, output, count, type, op, root, communicator,   \
                                             info, request);                                       \
    });                                                                                            \
  }                                                                                                \
  int prefix##_Scan_init##suffix(const void* input, void* output, count_type count,                \
                                 MPI_Datatype type, MPI_Op op, MPI_Comm communicator,              \
                                 MPI_Info info, MPI_Request* request) {                            \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::reduction<Routine::scan_init>(                                                 \
        of, communicator, request, [&] { return of.scan(); },                                      \
        [&] {                                                                                      \
          return P##prefix##_Scan_init##suffix(input, output, count, type, op, communicator, info, \
                                               request);                                           \
        });                                                                                        \
  }                                                                                                \
  int prefix##_Exscan_init##suffix(const void* input, void* output, count_type count,              \
                                   MPI_Datatype type, MPI_Op op, MPI_Comm communicator,            \
                                   MPI_Info info, MPI_Request* request) {                          \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::reduction<Routine::exscan_init>(                                               \
        of, communicator, request, [&] { return of.exscan(); },                                    \
        [&] {                                                                                      \
          return P##prefix##_Exscan_init##suffix(input, output, count, type, op, communicator,     \
                                                 info, request);                                   \
        });                                                                                        \
  }                                                                                                \
  int prefix##_Reduce_scatter_block_init##suffix(                                                  \
      const void* input, void* output, count_type count, MPI_Datatype type, MPI_Op op,             \
      MPI_Comm communicator, MPI_Info info, MPI_Request* request) {                                \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::reduction<Routine::reduce_scatter_block_init>(                                 \
        of, communicator, request, [&] { return of.reduce_scatter_block(); },                      \
        [&] {                                                                                      \
          return P##prefix##_Reduce_scatter_block_init##suffix(input, output, count, type, op,     \
                                                               communicator, info, request);       \
        });                                                                                        \
  }                                                                                                \
  int prefix##_Reduce_scatter_init##suffix(                                                        \
      const void* input, void* output, const count_type* counts, MPI_Datatype type, MPI_Op op,     \
      MPI_Comm communicator, MPI_Info info, MPI_Request* request) {                                \
    return preload::reduce_scatter<Routine::reduce_scatter_init>(                                  \
        input, output, counts, type, op, communicator, request, [&] {                              \
          return P##prefix##_Reduce_scatter_init##suffix(input, output, counts, type, op,          \
                                                         communicator, info, request);             \
        });                                                                                        \
  }

#define HYCOLL_PRELOAD_BARRIER(prefix)                                                    \
  int prefix##_Barrier_init(MPI_Comm communicator, MPI_Info info, MPI_Request* request) { \
    return preload::serve_persistent(                                                     \
        {.routine = Routine::barrier_init, .communicator = communicator}, request,        \
        [](preload::PersistentCall& /*persistent*/) { return hycoll::calls::barrier(); }, \
        [&] { return P##prefix##_Barrier_init(communicator, info, request); });           \
  }
#define HYCOLL_PRELOAD_BARRIER_OF(prefix) HYCOLL_PRELOAD_BARRIER(prefix)

extern "C" {

HYCOLL_PRELOAD_PERSISTENT_FORMS(HYCOLL_PRELOAD_PERSISTENT_REDUCTIONS)
#ifdef HYCOLL_PRELOAD_PERSISTENT_PREFIX
HYCOLL_PRELOAD_BARRIER_OF(HYCOLL_PRELOAD_PERSISTENT_PREFIX)
#endif

}  // extern "C"
