#ifndef HYCOLL_PRELOAD_ROUTINES_REDUCTION_REQUESTS_H_
#define HYCOLL_PRELOAD_ROUTINES_REDUCTION_REQUESTS_H_

// The reductions that the program has a request for, nonblocking and persistent, as the routine
// says.

#include <mpi.h>

#include <cstddef>
#include <span>

#include "preload/routines/elements.h"
#include "preload/routines/serve.h"

namespace hycoll::preload {

/// serve_nonblocking() or serve_persistent().
template <Routine routine, class MakeCall, class Library>
int serve_request(const Candidate& candidate, MPI_Request* request, const MakeCall& make_call,
                  const Library& library) {
  static_assert(is_nonblocking(routine) || is_persistent(routine));
  if constexpr (is_persistent(routine)) {
    return serve_persistent(candidate, request, make_call, library);
  } else {
    return serve_nonblocking(candidate, request, make_call, library);
  }
}

/// A reduction whose call `make()` makes. hycoll serves those of predefined operators, and so of
/// predefined types only: there is nothing to keep.
template <Routine routine, class Count, class Make, class Library>
int reduction(const Elements<Count>& of, MPI_Comm communicator, MPI_Request* request,
              const Make& make, const Library& library) {
  return serve_request<routine>(
      of.candidate(routine, communicator), request,
      [&](PendingCall& /*pending*/) { return make(); }, library);
}

/// The same of one with a root.
template <Routine routine, class Count, class Library>
int reduction(const Elements<Count>& of, int root, MPI_Comm communicator, MPI_Request* request,
              const Library& library) {
  return serve_request<routine>(
      of.candidate(routine, root, communicator), request,
      [&](PendingCall& /*pending*/) { return of.reduce(root); }, library);
}

template <Routine routine, class Count, class Library>
int reduce_scatter(const void* input, void* output, const Count* counts, MPI_Datatype type,
                   MPI_Op op, MPI_Comm communicator, MPI_Request* request, const Library& library) {
  const int size = counts == nullptr ? 0 : process_count_of(communicator);
  if (size == 0) return library();
  const std::span<const Count> blocks(counts, static_cast<std::size_t>(size));
  const Elements<MPI_Count> of{
      .input = input, .output = output, .count = sum_of(blocks), .type = type, .op = op};
  return serve_request<routine>(
      candidate_of_blocks(routine, of, blocks, communicator), request,
      [&](PendingCall& pending) {
        pending.block_counts.assign(blocks.begin(), blocks.end());
        return of.reduce_scatter(pending.block_counts);
      },
      library);
}

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_ROUTINES_REDUCTION_REQUESTS_H_
