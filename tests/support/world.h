#ifndef HYCOLL_TESTS_SUPPORT_WORLD_H_
#define HYCOLL_TESTS_SUPPORT_WORLD_H_

#include <mpi.h>

namespace hycoll::tests {

/// This process in MPI_COMM_WORLD.
inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_WORLD_H_
