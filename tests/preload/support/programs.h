#ifndef HYCOLL_TESTS_PRELOAD_SUPPORT_PROGRAMS_H_
#define HYCOLL_TESTS_PRELOAD_SUPPORT_PROGRAMS_H_

#include <mpi.h>

#include <cstdint>
#include <cstdio>

// What the programs that run under the preload library share. They know nothing of hycoll.

namespace programs {

/// Ends the job with a line that says what is wrong.
#define REQUIRE_HERE(condition)                                                                \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      std::fprintf(stderr, "%s:%d: wrong on this rank: %s\n", __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                            \
    }                                                                                          \
  } while (false)

inline int rank_of(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

inline int size_of(MPI_Comm communicator) {
  int size = 0;
  MPI_Comm_size(communicator, &size);
  return size;
}

/// That an allreduce of this round adds the numbers of all ranks.
inline void require_sum(MPI_Comm communicator, int round) {
  const int size = size_of(communicator);
  const int number = round + rank_of(communicator);
  int sum = -1;
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, communicator);
  REQUIRE_HERE(sum == size * round + size * (size - 1) / 2);
}

/// Different for every rank, index and round.
inline std::uint64_t value_of(int rank, std::uint64_t index, std::uint64_t round) {
  std::uint64_t x = (static_cast<std::uint64_t>(rank) << 48) ^ (round << 28) ^ index;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace programs

#endif  // HYCOLL_TESTS_PRELOAD_SUPPORT_PROGRAMS_H_
