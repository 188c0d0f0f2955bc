#ifndef HYCOLL_TESTS_PRELOAD_REDUCTIONS_TYPE_LAYOUTS_H_
#define HYCOLL_TESTS_PRELOAD_REDUCTIONS_TYPE_LAYOUTS_H_

#include <mpi.h>

namespace programs {

/// Reductions by an operator of the program's of elements that each process lays out in its own
/// way: distances, order in memory, bounds, absolute addresses.
void reduce_own_layouts(MPI_Comm communicator);

/// Pairs of value and index, and structs that end with padding, where the last byte of data ends a
/// page: what is padding in MPI's eyes is the program's.
void leave_padding_alone(MPI_Comm communicator);

}  // namespace programs

#endif  // HYCOLL_TESTS_PRELOAD_REDUCTIONS_TYPE_LAYOUTS_H_
