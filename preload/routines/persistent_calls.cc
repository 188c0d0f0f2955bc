// The persistent forms of what hycoll serves: they go to the MPI library, and the calls that set
// them up into the report. Their names are MPI's from MPI 4 on, and Open MPI's own before.

#include <mpi.h>
#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <span>
#include <string_view>

#include "preload/routines/elements.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

template <class Count, class Library>
int set_up(Routine routine, Count count, MPI_Datatype type, const Library& library) {
  return pass_on({.routine = routine, .element_count = count, .type = type},
                 "persistent: hycoll serves no such calls", library);
}

/// The elements of all blocks.
template <class Count>
MPI_Count element_count_of(const Count* counts, MPI_Comm communicator) {
  const int size = counts == nullptr ? 0 : process_count_of(communicator);
  return sum_of(std::span<const Count>(counts, static_cast<std::size_t>(size)));
}

}  // namespace
}  // namespace hycoll::preload

namespace preload = hycoll::preload;
using preload::Routine;

// One function for each form: counts of type int, and of type MPI_Count from MPI 4 on.
#define HYCOLL_PRELOAD_PERSISTENT(prefix, suffix, count_type)                                      \
  int prefix##_Allgather_init##suffix(const void* input, count_type input_count,                   \
                                      MPI_Datatype input_type, void* output, count_type count,     \
                                      MPI_Datatype type, MPI_Comm communicator, MPI_Info info,     \
                                      MPI_Request* request) {                                      \
    return preload::set_up(Routine::allgather_init, count, type, [&] {                             \
      return P##prefix##_Allgather_init##suffix(input, input_count, input_type, output, count,     \
                                                type, communicator, info, request);                \
    });                                                                                            \
  }                                                                                                \
  int prefix##_Allreduce_init##suffix(const void* input, void* output, count_type count,           \
                                      MPI_Datatype type, MPI_Op op, MPI_Comm communicator,         \
                                      MPI_Info info, MPI_Request* request) {                       \
    return preload::set_up(Routine::allreduce_init, count, type, [&] {                             \
      return P##prefix##_Allreduce_init##suffix(input, output, count, type, op, communicator,      \
                                                info, request);                                    \
    });                                                                                            \
  }                                                                                                \
  int prefix##_Bcast_init##suffix(void* buffer, count_type count, MPI_Datatype type, int root,     \
                                  MPI_Comm communicator, MPI_Info info, MPI_Request* request) {    \
    return preload::set_up(Routine::bcast_init, count, type, [&] {                                 \
      return P##prefix##_Bcast_init##suffix(buffer, count, type, root, communicator, info,         \
                                            request);                                              \
    });                                                                                            \
  }                                                                                                \
  int prefix##_Exscan_init##suffix(const void* input, void* output, count_type count,              \
                                   MPI_Datatype type, MPI_Op op, MPI_Comm communicator,            \
                                   MPI_Info info, MPI_Request* request) {                          \
    return preload::set_up(Routine::exscan_init, count, type, [&] {                                \
      return P##prefix##_Exscan_init##suffix(input, output, count, type, op, communicator, info,   \
                                             request);                                             \
    });                                                                                            \
  }                                                                                                \
  int prefix##_Gather_init##suffix(const void* input, count_type input_count,                      \
                                   MPI_Datatype input_type, void* output, count_type count,        \
                                   MPI_Datatype type, int root, MPI_Comm communicator,             \
                                   MPI_Info info, MPI_Request* request) {                          \
    return preload::set_up(Routine::gather_init, input_count, input_type, [&] {                    \
      return P##prefix##_Gather_init##suffix(input, input_count, input_type, output, count, type,  \
                                             root, communicator, info, request);                   \
    });                                                                                            \
  }                                                                                                \
  int prefix##_Reduce_init##suffix(const void* input, void* output, count_type count,              \
                                   MPI_Datatype type, MPI_Op op, int root, MPI_Comm communicator,  \
                                   MPI_Info info, MPI_Request* request) {                          \
    return preload::set_up(Routine::reduce_init, count, type, [&] {                                \
      return P##prefix##_Reduce_init##suffix(input, output, count, type, op, root, communicator,   \
                                             info, request);                                       \
    });                                                                                            \
  }                                                                                                \
  int prefix##_Reduce_scatter_init##suffix(                                                        \
      const void* input, void* output, const count_type* counts, MPI_Datatype type, MPI_Op op,     \
      MPI_Comm communicator, MPI_Info info, MPI_Request* request) {                                \
    return preload::set_up(Routine::reduce_scatter_init,                                           \
                           preload::element_count_of(counts, communicator), type, [&] {            \
                             return P##prefix##_Reduce_scatter_init##suffix(                       \
                                 input, output, counts, type, op, communicator, info, request);    \
                           });                                                                     \
  }                                                                                                \
  int prefix##_Reduce_scatter_block_init##suffix(                                                  \
      const void* input, void* output, count_type count, MPI_Datatype type, MPI_Op op,             \
      MPI_Comm communicator, MPI_Info info, MPI_Request* request) {                                \
    return preload::set_up(Routine::reduce_scatter_block_init, count, type, [&] {                  \
      return P##prefix##_Reduce_scatter_block_init##suffix(input, output, count, type, op,         \
                                                           communicator, info, request);           \
    });                                                                                            \
  }                                                                                                \
  int prefix##_Scan_init##suffix(const void* input, void* output, count_type count,                \
                                 MPI_Datatype type, MPI_Op op, MPI_Comm communicator,              \
                                 MPI_Info info, MPI_Request* request) {                            \
    return preload::set_up(Routine::scan_init, count, type, [&] {                                  \
      return P##prefix##_Scan_init##suffix(input, output, count, type, op, communicator, info,     \
                                           request);                                               \
    });                                                                                            \
  }                                                                                                \
  int prefix##_Scatter_init##suffix(const void* input, count_type input_count,                     \
                                    MPI_Datatype input_type, void* output, count_type count,       \
                                    MPI_Datatype type, int root, MPI_Comm communicator,            \
                                    MPI_Info info, MPI_Request* request) {                         \
    return preload::set_up(Routine::scatter_init, count, type, [&] {                               \
      return P##prefix##_Scatter_init##suffix(input, input_count, input_type, output, count, type, \
                                              root, communicator, info, request);                  \
    });                                                                                            \
  }

#define HYCOLL_PRELOAD_PERSISTENT_BARRIER(prefix)                                                  \
  int prefix##_Barrier_init(MPI_Comm communicator, MPI_Info info, MPI_Request* request) {          \
    return preload::set_up(Routine::barrier_init, 0, MPI_BYTE,                                     \
                           [&] { return P##prefix##_Barrier_init(communicator, info, request); }); \
  }

extern "C" {

#if MPI_VERSION >= 4
HYCOLL_PRELOAD_PERSISTENT(MPI, , int)
HYCOLL_PRELOAD_PERSISTENT(MPI, _c, MPI_Count)
HYCOLL_PRELOAD_PERSISTENT_BARRIER(MPI)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
HYCOLL_PRELOAD_PERSISTENT(MPIX, , int)
HYCOLL_PRELOAD_PERSISTENT_BARRIER(MPIX)
#endif

}  // extern "C"
