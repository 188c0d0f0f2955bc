#ifndef HYCOLL_PRELOAD_ROUTINES_BOTH_SIDES_H_
#define HYCOLL_PRELOAD_ROUTINES_BOTH_SIDES_H_

#include <mpi.h>

#include "preload/routines/serve.h"

namespace hycoll::preload {

/// The arguments of a collective in which every process describes its input and its output, of
/// equal blocks. Count is int or MPI_Count.
template <class Count>
struct BothSides {
  const void* input;
  Count input_count;
  MPI_Datatype input_type;
  void* output;
  Count count;  ///< Of one block.
  MPI_Datatype type;
  MPI_Comm communicator;

  bool is_in_place() const noexcept { return input == MPI_IN_PLACE; }

  /// As the output's block is, for that is what hycoll sees; but what is wrong with the input alone
  /// is wrong with the call, and the MPI library reports it.
  Candidate candidate(Routine routine) const {
    const bool is_negative = !is_in_place() && input_count < 0;
    return {.routine = routine,
            .communicator = communicator,
            .element_count = is_negative ? input_count : count,
            .type = is_in_place() ? type : worse_type(type, input_type),
            .mistake = mistake(routine)};
  }

  Mistake mistake(Routine routine) const {
    const PassedBuffer own = {input, input_count, input_type};
    const PassedBuffer all = {output, count, type};
    if (collective_of(routine) != Collective::allgather) return mistake_in(own, all);
    // From equal addresses the first process sends its block to itself.
    const bool is_behind = input >= output && input != MPI_IN_PLACE;
    const int rank = is_behind ? rank_in(communicator) : 0;
    return mistake_in({.own = own,
                       .all = all,
                       .own_begin = static_cast<std::ptrdiff_t>(count) * rank,
                       .is_alike = input_count == count && input_type == type,
                       .in_place = Mistake::output_in_place});
  }
};

/// Serves a blocking call. A Translation of the arguments makes hycoll's call(). If it copies(), as
/// where no description fits both sides, the process is to copy() a part of the input to the
/// output, and the call becomes one in place: put_in_place(call).
template <class Translation, class Count, class Library>
int serve_both_sides(Routine routine, const BothSides<Count>& of, const Library& library) {
  Translation translation(of);
  return serve(
      of.candidate(routine), [&] { return translation.call(); }, library,
      [&](Call& call) { make_ready(translation, call); });
}

/// The same for a nonblocking one.
template <class Translation, class Count, class Library>
int start_both_sides(Routine routine, const BothSides<Count>& of, MPI_Request* request,
                     const Library& library) {
  return serve_nonblocking(
      of.candidate(routine), request,
      [&](PendingCall& /*pending*/) {
        Translation translation(of);
        Call call = translation.call();
        make_ready(translation, call);
        return call;
      },
      library);
}

/// The same for a persistent one.
template <class Translation, class Count, class Library>
int set_up_both_sides(Routine routine, const BothSides<Count>& of, MPI_Request* request,
                      const Library& library) {
  return serve_persistent(
      of.candidate(routine), request,
      [&](PersistentCall& persistent) {
        Translation translation(of);
        const Call call = translation.call();
        return repeated(persistent, translation, call);
      },
      library);
}

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_ROUTINES_BOTH_SIDES_H_
