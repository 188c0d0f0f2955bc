#ifndef HYCOLL_PRELOAD_ROUTINES_PAIR_LISTS_H_
#define HYCOLL_PRELOAD_ROUTINES_PAIR_LISTS_H_

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/api/hycoll.h"

namespace hycoll::preload {

/// What a process sends to, or gets from, each of the others, as hycoll's calls want it; in the
/// same memory for one call after another.
class PairLists {
 public:
  template <class Count, class Displacement>
  void take(std::span<const Count> counts, std::span<const Displacement> displacements) {
    counts_.assign(counts.begin(), counts.end());
    displacements_.assign(displacements.begin(), displacements.end());
  }
  /// Displacements are in bytes then.
  void take_types(std::span<const MPI_Datatype> types) {
    types_.clear();
    for (const MPI_Datatype type : types) types_.emplace_back(type);
  }
  /// The same type for all: displacements, which are in its elements, become bytes.
  void take_type(MPI_Datatype type) {
    types_.assign(counts_.size(), ElementType(type));
    MPI_Count lower_bound = 0;
    MPI_Count extent = 0;
    PMPI_Type_get_extent_x(type, &lower_bound, &extent);
    for (std::ptrdiff_t& displacement : displacements_) {
      displacement *= static_cast<std::ptrdiff_t>(extent);
    }
  }
  /// Nothing for anybody but one process.
  void take_only(int process_count, int process, std::size_t count, MPI_Datatype type) {
    const auto size = static_cast<std::size_t>(process_count);
    counts_.assign(size, 0);
    displacements_.assign(size, 0);
    types_.assign(size, ElementType(type));
    counts_[static_cast<std::size_t>(process)] = count;
  }
  void take_nothing(int process_count) { take_only(process_count, 0, 0, MPI_BYTE); }
  /// But for this process.
  void leave_out(int process) { counts_[static_cast<std::size_t>(process)] = 0; }

  PairCounts counts() const { return {counts_, displacements_}; }
  TypedPairCounts typed() const { return {counts_, displacements_, types_}; }

 private:
  std::vector<std::size_t> counts_;
  std::vector<std::ptrdiff_t> displacements_;
  std::vector<ElementType> types_;
};

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_ROUTINES_PAIR_LISTS_H_
