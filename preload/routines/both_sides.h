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

}  // namespace hycoll::preload

#define HYCOLL_BOTH_SIDES(count_type, displacement_type)                            \
  const void *input, count_type input_count, MPI_Datatype input_type, void *output, \
      count_type count, MPI_Datatype type, MPI_Comm communicator
#define HYCOLL_BOTH_SIDES_PASSED() input, input_count, input_type, output, count, type, communicator

#endif  // HYCOLL_PRELOAD_ROUTINES_BOTH_SIDES_H_
