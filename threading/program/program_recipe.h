#ifndef HYCOLL_THREADING_PROGRAM_PROGRAM_RECIPE_H_
#define HYCOLL_THREADING_PROGRAM_PROGRAM_RECIPE_H_

#include <vector>

namespace hycoll {

/// What of a program depends on the length of the vector that it is bound to, by chunks. All else
/// depends on which chunks are empty, on whether there are gaps between blocks, and on whether the
/// node stages briefly.
struct ProgramRecipe {
  /// What an instruction works on; no chunks for signals and waits.
  struct Extent {
    int first_chunk = 0;
    int chunk_count = 0;
    bool makes_final_outputs = false;  ///< Which it streams where that pays.
    bool is_for_others = false;        ///< The same where members are far from one another.
  };
  /// Where an operand begins.
  struct Place {
    int first_chunk = 0;
    int buffer_first_chunk = 0;  ///< Of its buffer, or the same where it is the buffer's begin.
    int buffer = -1;             ///< That has a place in staging or scratch; -1: others.
    int block = -1;              ///< Whose gap lies before it; -1: none does.
  };

  std::vector<Extent> instructions;  ///< Of all strands, one after the other.
  std::vector<Place> operands;
  bool some_make_final_outputs = false;  ///< Of the instructions of all of the node's workers.
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_PROGRAM_RECIPE_H_
