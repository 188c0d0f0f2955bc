// The persistent reductions of the program, and the barrier.

#include <mpi.h>

#include <cstddef>
#include <span>

#include "collectives/api/hycoll.h"
#include "preload/routines/elements.h"
#include "preload/routines/persistent_forms.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

/// A reduction whose call `make()` makes. hycoll serves those of predefined operators, and so of
/// predefined types only: there is nothing to keep.
template <class Count, class Make, class Library>
int set_up(Routine routine, const Elements<Count>& of, MPI_Comm communicator, MPI_Request* request,
           const Make& make, const Library& library) {
  return serve_persistent(
      of.candidate(routine, communicator), request,
      [&](PersistentCall& /*persistent*/) { return make(); }, library);
}

template <class Count, class Library>
int set_up_reduce_scatter(const void* input, void* output, const Count* counts, MPI_Datatype type,
                          MPI_Op op, MPI_Comm communicator, MPI_Request* request,
                          const Library& library) {
  const int size = counts == nullptr ? 0 : process_count_of(communicator);
  if (size == 0) return library();
  const std::span<const Count> blocks(counts, static_cast<std::size_t>(size));
  const Elements<MPI_Count> of{
      .input = input, .output = output, .count = sum_of(blocks), .type = type, .op = op};
  return serve_persistent(
      of.candidate(Routine::reduce_scatter_init, communicator), request,
      [&](PersistentCall& persistent) {
        persistent.block_counts.assign(blocks.begin(), blocks.end());
        return of.reduce_scatter(persistent.block_counts);
      },
      library);
}

}  // namespace
}  // namespace hycoll::preload

namespace preload = hycoll::preload;
using preload::Routine;

#define HYCOLL_PRELOAD_REDUCTIONS(prefix, suffix, count_type, displacement_type)                   \
  int prefix##_Allreduce_init##suffix(const void* input, void* output, count_type count,           \
                                      MPI_Datatype type, MPI_Op op, MPI_Comm communicator,         \
                                      MPI_Info info, MPI_Request* request) {                       \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::set_up(                                                                        \
        Routine::allreduce_init, of, communicator, request, [&] { return of.allreduce(); },        \
        [&] {                                                                                      \
          return P##prefix##_Allreduce_init##suffix(input, output, count, type, op, communicator,  \
                                                    info, request);                                \
        });                                                                                        \
  }                                                                                                \
  int prefix##_Reduce_init##suffix(const void* input, void* output, count_type count,              \
                                   MPI_Datatype type, MPI_Op op, int root, MPI_Comm communicator,  \
                                   MPI_Info info, MPI_Request* request) {                          \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::set_up(                                                                        \
        Routine::reduce_init, of, communicator, request, [&] { return of.reduce(root); },          \
        [&] {                                                                                      \
          return P##prefix##_Reduce_init##suffix(input, output, count, type, op, root,             \
                                                 communicator, info, request);                     \
        });                                                                                        \
  }                                                                                                \
  int prefix##_Scan_init##suffix(const void* input, void* output, count_type count,                \
                                 MPI_Datatype type, MPI_Op op, MPI_Comm communicator,              \
                                 MPI_Info info, MPI_Request* request) {                            \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::set_up(                                                                        \
        Routine::scan_init, of, communicator, request, [&] { return of.scan(); },                  \
        [&] {                                                                                      \
          return P##prefix##_Scan_init##suffix(input, output, count, type, op, communicator, info, \
                                               request);                                           \
        });                                                                                        \
  }                                                                                                \
  int prefix##_Exscan_init##suffix(const void* input, void* output, count_type count,              \
                                   MPI_Datatype type, MPI_Op op, MPI_Comm communicator,            \
                                   MPI_Info info, MPI_Request* request) {                          \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::set_up(                                                                        \
        Routine::exscan_init, of, communicator, request, [&] { return of.exscan(); },              \
        [&] {                                                                                      \
          return P##prefix##_Exscan_init##suffix(input, output, count, type, op, communicator,     \
                                                 info, request);                                   \
        });                                                                                        \
  }                                                                                                \
  int prefix##_Reduce_scatter_block_init##suffix(                                                  \
      const void* input, void* output, count_type count, MPI_Datatype type, MPI_Op op,             \
      MPI_Comm communicator, MPI_Info info, MPI_Request* request) {                                \
    const preload::Elements<count_type> of{input, output, count, type, op};                        \
    return preload::set_up(                                                                        \
        Routine::reduce_scatter_block_init, of, communicator, request,                             \
        [&] { return of.reduce_scatter_block(); },                                                 \
        [&] {                                                                                      \
          return P##prefix##_Reduce_scatter_block_init##suffix(input, output, count, type, op,     \
                                                               communicator, info, request);       \
        });                                                                                        \
  }                                                                                                \
  int prefix##_Reduce_scatter_init##suffix(                                                        \
      const void* input, void* output, const count_type* counts, MPI_Datatype type, MPI_Op op,     \
      MPI_Comm communicator, MPI_Info info, MPI_Request* request) {                                \
    return preload::set_up_reduce_scatter<count_type>(                                             \
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

HYCOLL_PRELOAD_PERSISTENT_FORMS(HYCOLL_PRELOAD_REDUCTIONS)
#ifdef HYCOLL_PRELOAD_PERSISTENT_PREFIX
HYCOLL_PRELOAD_BARRIER_OF(HYCOLL_PRELOAD_PERSISTENT_PREFIX)
#endif

}  // extern "C"
