#ifndef HYCOLL_TESTS_PRELOAD_REDUCTIONS_TYPE_ATTRIBUTES_H_
#define HYCOLL_TESTS_PRELOAD_REDUCTIONS_TYPE_ATTRIBUTES_H_

#include <mpi.h>

namespace programs {

/// Nonblocking and persistent collectives of datatypes whose attributes refuse to be copied, and
/// that are freed as soon as the call has been made or set up.
void keep_attributes_alone(MPI_Comm communicator);

}  // namespace programs

#endif  // HYCOLL_TESTS_PRELOAD_REDUCTIONS_TYPE_ATTRIBUTES_H_
