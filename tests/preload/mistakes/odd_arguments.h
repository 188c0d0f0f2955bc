#ifndef HYCOLL_TESTS_PRELOAD_MISTAKES_ODD_ARGUMENTS_H_
#define HYCOLL_TESTS_PRELOAD_MISTAKES_ODD_ARGUMENTS_H_

#include <mpi.h>

// Arguments that MPI allows though they look odd: what comes of them is right.

namespace programs {

/// Blocks of the output that share bytes.
void overlaps(MPI_Comm communicator);

/// Input that overlaps the output in part. MPICH alone ends the job.
void partial_overlap(MPI_Comm communicator);

/// Blocks at addresses that fit into an int, from MPI_BOTTOM on.
void absolute_addresses(MPI_Comm communicator);

}  // namespace programs

#endif  // HYCOLL_TESTS_PRELOAD_MISTAKES_ODD_ARGUMENTS_H_
