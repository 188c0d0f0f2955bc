#ifndef HYCOLL_PRELOAD_ROUTINES_ELEMENTS_H_
#define HYCOLL_PRELOAD_ROUTINES_ELEMENTS_H_

#include <mpi.h>

#include <cstddef>
#include <span>

#include "preload/routines/serve.h"
#include "preload/session/attachment.h"

namespace hycoll::preload {

/// What every reduction says of its elements. Count is int or MPI_Count.
template <class Count>
struct Elements {
  const void* input;
  void* output;
  Count count;
  MPI_Datatype type;
  MPI_Op op;

  /// In hycoll, a call in place has one address twice.
  const void* input_address() const noexcept { return input == MPI_IN_PLACE ? output : input; }
  ElementType element_type() const noexcept { return ElementType(type); }
  Operation operation() const noexcept { return Operation(op); }
  std::size_t size() const noexcept { return static_cast<std::size_t>(count); }
  /// Of a reduction whose result all processes get.
  Candidate candidate(Routine routine, MPI_Comm communicator) const {
    return {.routine = routine,
            .communicator = communicator,
            .element_count = count,
            .type = type,
            .op = op,
            .mistake = mistake(routine, communicator)};
  }
  /// Of one whose result the root gets.
  Candidate candidate(Routine routine, int root, MPI_Comm communicator) const {
    // Of an intercommunicator's, MPI does not look at what processes pass that do not take part.
    const bool takes_part = root != MPI_PROC_NULL || rank_in(communicator) >= 0;
    return {.routine = routine,
            .communicator = communicator,
            .element_count = takes_part ? count : 0,
            .type = takes_part ? type : MPI_BYTE,
            .op = op,
            .root = root,
            .mistake = rooted_mistake(root, communicator)};
  }

  Mistake mistake(Routine routine, MPI_Comm communicator) const {
    const Mistake found = mistake_in({input, count, type}, {output, count, type});
    if (found == Mistake::none) [[likely]]
      return found;
    // The first process of an exscan gets no result, but others are told that they pass one buffer.
    const bool has_none = found != Mistake::aliased &&
                          collective_of(routine) == Collective::exscan &&
                          rank_in(communicator) == 0;
    return has_none ? find_mistake({input, count, type}, Mistake::none) : found;
  }

  Mistake rooted_mistake(int root, MPI_Comm communicator) const {
    const bool may_be_wrong = input == output || is_no_address(input) || is_no_address(output);
    if (!may_be_wrong) [[likely]]
      return Mistake::none;
    const int rank = rank_in(communicator);
    if (rank < 0) return Mistake::none;
    // Nobody else looks at the output.
    if (rank != root) return mistake_in_input({input, count, type});
    return mistake_in({input, count, type}, {output, count, type});
  }

  // hycoll's calls.
  Call allreduce() const {
    return calls::allreduce(input_address(), output, size(), element_type(), operation());
  }
  Call reduce(int root) const {
    return calls::reduce(input_address(), output, size(), element_type(), operation(), root);
  }
  Call scan() const {
    return calls::scan(input_address(), output, size(), element_type(), operation());
  }
  Call exscan() const {
    return calls::exscan(input_address(), output, size(), element_type(), operation());
  }
  Call reduce_scatter_block() const {
    return calls::reduce_scatter_block(input_address(), output, size(), element_type(),
                                       operation());
  }
  Call reduce_scatter(std::span<const std::size_t> block_counts) const {
    return calls::reduce_scatter(input_address(), output, block_counts, element_type(),
                                 operation());
  }
};

/// The elements of all blocks; negative if one of the counts is.
template <class Count>
MPI_Count sum_of(std::span<const Count> counts) {
  MPI_Count sum = 0;
  for (const Count count : counts) {
    if (count < 0) return -1;
    sum += count;
  }
  return sum;
}

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_ROUTINES_ELEMENTS_H_
