#ifndef HYCOLL_TESTS_PRELOAD_MOVEMENTS_DESCRIPTIONS_H_
#define HYCOLL_TESTS_PRELOAD_MOVEMENTS_DESCRIPTIONS_H_

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "tests/preload/support/programs.h"

namespace programs {

inline constexpr int kPoison = 123456;

inline int element(int rank, std::size_t index, int round) {
  return static_cast<int>(value_of(rank, index, static_cast<std::uint64_t>(round)) & 0xffffff);
}

/// A way to describe blocks of `count` integers (a multiple of 6) in a buffer.
struct Description {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int type_count = 0;
  std::size_t stride = 1;  ///< The distance of integers in the buffer.
  bool is_derived = false;
  bool swaps_pairs = false;  ///< The second integer of each two comes first.

  /// The data of one process as a block.
  void fill(int* block, int count, int rank, int round) const {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      block[i * stride] = element(rank, swaps_pairs ? i ^ 1 : i, round);
    }
  }

  /// Frees the datatype, if it is the program's.
  void free() {
    if (is_derived) MPI_Type_free(&type);
    is_derived = false;
  }
};

inline constexpr int kWays = 5;

inline Description describe(int way, int count) {
  Description made;
  switch (way) {
    case 0:
      return {.type = MPI_INT, .type_count = count};
    case 1:  // triples
      MPI_Type_contiguous(3, MPI_INT, &made.type);
      made.type_count = count / 3;
      break;
    case 2: {  // every other integer, up to the block's end
      MPI_Datatype vector = MPI_DATATYPE_NULL;
      MPI_Type_vector(count, 1, 2, MPI_INT, &vector);
      MPI_Type_create_resized(vector, 0, static_cast<MPI_Aint>(count) * 8, &made.type);
      MPI_Type_free(&vector);
      made.type_count = 1;
      made.stride = 2;
      break;
    }
    case 3: {  // without gaps, and not in the order of memory
      const std::array<int, 2> lengths = {1, 1};
      const std::array<int, 2> places = {1, 0};
      MPI_Type_indexed(2, lengths.data(), places.data(), MPI_INT, &made.type);
      made.type_count = count / 2;
      made.swaps_pairs = true;
      break;
    }
    default:  // an integer and a gap of two
      MPI_Type_create_resized(MPI_INT, 0, 12, &made.type);
      made.type_count = count;
      made.stride = 3;
  }
  made.is_derived = true;
  MPI_Type_commit(&made.type);
  return made;
}

}  // namespace programs

#endif  // HYCOLL_TESTS_PRELOAD_MOVEMENTS_DESCRIPTIONS_H_
