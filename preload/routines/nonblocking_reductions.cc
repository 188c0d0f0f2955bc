// The nonblocking reductions of the program.

#include <mpi.h>

#include "collectives/api/hycoll.h"
#include "preload/routines/elements.h"
#include "preload/routines/reduction_requests.h"
#include "preload/routines/serve.h"

namespace preload = hycoll::preload;
using preload::Routine;

// One function for each form: counts of type int, and of type MPI_Count from MPI 4 on.
#define HYCOLL_PRELOAD_NONBLOCKING(suffix, count_type)                                             \
  int MPI_Iallreduce##suffix(const void* input, void* output, count_type count, MPI_Datatype type, \
                             MPI_Op op, MPI_Comm communicator, MPI_Request* request) {             \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::reduction<Routine::iallreduce>(                                                \
        of, communicator, request, [&] { return of.allreduce(); },                                 \
        [&] {                                                                                      \
          return PMPI_Iallreduce##suffix(input, output, count, type, op, communicator, request);   \
        });                                                                                        \
  }                                                                                                \
  int MPI_Ireduce##suffix(const void* input, void* output, count_type count, MPI_Datatype type,    \
                          MPI_Op op, int root, MPI_Comm communicator, MPI_Request* request) {      \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::reduction<Routine::ireduce>(of, root, communicator, request, [&] {             \
      return PMPI_Ireduce##suffix(input, output, count, type, op, root, communicator, request);    \
    });                                                                                            \
  }                                                                                                \
  int MPI_Iscan##suffix(const void* input, void* output, count_type count, MPI_Datatype type,      \
                        MPI_Op op, MPI_Comm communicator, MPI_Request* request) {                  \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::reduction<Routine::iscan>(                                                     \
        of, communicator, request, [&] { return of.scan(); },                                      \
        [&] {                                                                                      \
          return PMPI_Iscan##suffix(input, output, count, type, op, communicator, request);        \
        });                                                                                        \
  }                                                                                                \
  int MPI_Iexscan##suffix(const void* input, void* output, count_type count, MPI_Datatype type,    \
                          MPI_Op op, MPI_Comm communicator, MPI_Request* request) {                \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::reduction<Routine::iexscan>(                                                   \
        of, communicator, request, [&] { return of.exscan(); },                                    \
        [&] {                                                                                      \
          return PMPI_Iexscan##suffix(input, output, count, type, op, communicator, request);      \
        });                                                                                        \
  }                                                                                                \
  int MPI_Ireduce_scatter_block##suffix(const void* input, void* output, count_type count,         \
                                        MPI_Datatype type, MPI_Op op, MPI_Comm communicator,       \
                                        MPI_Request* request) {                                    \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::reduction<Routine::ireduce_scatter_block>(                                     \
        of, communicator, request, [&] { return of.reduce_scatter_block(); },                      \
        [&] {                                                                                      \
          return PMPI_Ireduce_scatter_block##suffix(input, output, count, type, op, communicator,  \
                                                    request);                                      \
        });                                                                                        \
  }                                                                                                \
  int MPI_Ireduce_scatter##suffix(const void* input, void* output, const count_type* counts,       \
                                  MPI_Datatype type, MPI_Op op, MPI_Comm communicator,             \
                                  MPI_Request* request) {                                          \
    return preload::reduce_scatter<Routine::ireduce_scatter>(                                      \
        input, output, counts, type, op, communicator, request, [&] {                              \
          return PMPI_Ireduce_scatter##suffix(input, output, counts, type, op, communicator,       \
                                              request);                                            \
        });                                                                                        \
  }

extern "C" {

HYCOLL_PRELOAD_NONBLOCKING(, int)
#if MPI_VERSION >= 4
HYCOLL_PRELOAD_NONBLOCKING(_c, MPI_Count)
#endif

int MPI_Ibarrier(MPI_Comm communicator, MPI_Request* request) {
  return preload::serve_nonblocking(
      {.routine = Routine::ibarrier, .communicator = communicator}, request,
      [](preload::PendingCall& /*pending*/) { return hycoll::calls::barrier(); },
      [&] { return PMPI_Ibarrier(communicator, request); });
}

}  // extern "C"
