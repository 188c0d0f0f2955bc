// The blocking reductions of the program.

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/api/hycoll.h"
#include "preload/routines/elements.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {
namespace {

template <class Count, class Library>
int allreduce(const Elements<Count>& of, MPI_Comm communicator, const Library& library) {
  return serve(
      of.candidate(Routine::allreduce, communicator), [&] { return of.allreduce(); }, library);
}

template <class Count, class Library>
int reduce(const Elements<Count>& of, int root, MPI_Comm communicator, const Library& library) {
  return serve(
      of.candidate(Routine::reduce, root, communicator), [&] { return of.reduce(root); }, library);
}

template <class Count, class Library>
int scan(const Elements<Count>& of, MPI_Comm communicator, const Library& library) {
  return serve(
      of.candidate(Routine::scan, communicator), [&] { return of.scan(); }, library);
}

template <class Count, class Library>
int exscan(const Elements<Count>& of, MPI_Comm communicator, const Library& library) {
  return serve(
      of.candidate(Routine::exscan, communicator), [&] { return of.exscan(); }, library);
}

template <class Count, class Library>
int reduce_scatter_block(const Elements<Count>& of, MPI_Comm communicator, const Library& library) {
  return serve(
      of.candidate(Routine::reduce_scatter_block, communicator),
      [&] { return of.reduce_scatter_block(); }, library);
}

template <class Count, class Library>
int blocking_reduce_scatter(const void* input, void* output, const Count* counts, MPI_Datatype type,
                            MPI_Op op, MPI_Comm communicator, const Library& library) {
  const int size = counts == nullptr ? 0 : process_count_of(communicator);
  if (size == 0) return library();
  const std::span<const Count> blocks(counts, static_cast<std::size_t>(size));
  const Elements<MPI_Count> of{
      .input = input, .output = output, .count = sum_of(blocks), .type = type, .op = op};
  std::vector<std::size_t> block_counts;
  return serve(
      candidate_of_blocks(Routine::reduce_scatter, of, blocks, communicator),
      [&] {
        block_counts.assign(blocks.begin(), blocks.end());
        return of.reduce_scatter(block_counts);
      },
      library);
}

}  // namespace
}  // namespace hycoll::preload

namespace preload = hycoll::preload;

// One function for each form: counts of type int, and of type MPI_Count from MPI 4 on.
#define HYCOLL_PRELOAD_REDUCTIONS(suffix, count_type)                                              \
  int MPI_Allreduce##suffix(const void* input, void* output, count_type count, MPI_Datatype type,  \
                            MPI_Op op, MPI_Comm communicator) {                                    \
    return preload::allreduce<count_type>({input, output, count, type, op}, communicator, [&] {    \
      return PMPI_Allreduce##suffix(input, output, count, type, op, communicator);                 \
    });                                                                                            \
  }                                                                                                \
  int MPI_Reduce##suffix(const void* input, void* output, count_type count, MPI_Datatype type,     \
                         MPI_Op op, int root, MPI_Comm communicator) {                             \
    return preload::reduce<count_type>({input, output, count, type, op}, root, communicator, [&] { \
      return PMPI_Reduce##suffix(input, output, count, type, op, root, communicator);              \
    });                                                                                            \
  }                                                                                                \
  int MPI_Scan##suffix(const void* input, void* output, count_type count, MPI_Datatype type,       \
                       MPI_Op op, MPI_Comm communicator) {                                         \
    return preload::scan<count_type>({input, output, count, type, op}, communicator, [&] {         \
      return PMPI_Scan##suffix(input, output, count, type, op, communicator);                      \
    });                                                                                            \
  }                                                                                                \
  int MPI_Exscan##suffix(const void* input, void* output, count_type count, MPI_Datatype type,     \
                         MPI_Op op, MPI_Comm communicator) {                                       \
    return preload::exscan<count_type>({input, output, count, type, op}, communicator, [&] {       \
      return PMPI_Exscan##suffix(input, output, count, type, op, communicator);                    \
    });                                                                                            \
  }                                                                                                \
  int MPI_Reduce_scatter_block##suffix(const void* input, void* output, count_type count,          \
                                       MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {      \
    return preload::reduce_scatter_block<count_type>(                                              \
        {input, output, count, type, op}, communicator, [&] {                                      \
          return PMPI_Reduce_scatter_block##suffix(input, output, count, type, op, communicator);  \
        });                                                                                        \
  }                                                                                                \
  int MPI_Reduce_scatter##suffix(const void* input, void* output, const count_type* counts,        \
                                 MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {            \
    return preload::blocking_reduce_scatter<count_type>(                                           \
        input, output, counts, type, op, communicator, [&] {                                       \
          return PMPI_Reduce_scatter##suffix(input, output, counts, type, op, communicator);       \
        });                                                                                        \
  }

extern "C" {

HYCOLL_PRELOAD_REDUCTIONS(, int)
#if MPI_VERSION >= 4
HYCOLL_PRELOAD_REDUCTIONS(_c, MPI_Count)
#endif

int MPI_Barrier(MPI_Comm communicator) {
  return preload::serve(
      {.routine = preload::Routine::barrier, .communicator = communicator},
      [] { return hycoll::calls::barrier(); }, [&] { return PMPI_Barrier(communicator); });
}

}  // extern "C"
