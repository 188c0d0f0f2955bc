#ifndef HYCOLL_PRELOAD_ROUTINES_ELEMENTS_H_
#define HYCOLL_PRELOAD_ROUTINES_ELEMENTS_H_

#include <mpi.h>

#include <cstddef>
#include <span>

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
  Candidate candidate(Routine routine, MPI_Comm communicator) const noexcept {
    return {.routine = routine,
            .communicator = communicator,
            .element_count = count,
            .type = type,
            .op = op};
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
