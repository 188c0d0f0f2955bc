#ifndef HYCOLL_TOOLS_CG_STENCIL_H_
#define HYCOLL_TOOLS_CG_STENCIL_H_

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "tools/cg/linear_operator.h"

namespace hycoll::cg {

/// Cells, or processes, in the three directions.
struct GridSize {
  int x = 1;
  int y = 1;
  int z = 1;
  friend bool operator==(const GridSize&, const GridSize&) = default;
};

/// A step to one of the 26 neighbours of a cell or of a process: -1, 0 or 1 in each direction.
struct Direction {
  int x = 0;
  int y = 0;
  int z = 0;
};
inline constexpr int kDirectionCount = 27;  ///< Including the step to nowhere.

/// 0..26, x fastest.
constexpr int index_of(Direction direction) noexcept {
  return direction.x + 1 + 3 * (direction.y + 1 + 3 * (direction.z + 1));
}

/// The inverse of index_of.
constexpr Direction direction_of(int index) noexcept {
  return {index % 3 - 1, index / 3 % 3 - 1, index / 9 - 1};
}

/// The matrix of HPCG: a point of a 3-D grid is coupled to its up to 26 neighbours with -1 and to
/// itself with 26. Nothing is stored: 27 v - (sum over the 27 points of the cube around v).
///
/// Rows are the process's cells, x fastest. Ghosts are the neighbour processes' cells beside its
/// own: a block per direction that has a neighbour, in the order of index_of, x fastest in each.
///
/// Source: J. Dongarra, M. Heroux, P. Luszczek, HPCG Benchmark: a New Metric for Ranking High
/// Performance Computing Systems, 2015. HPCG assembles this matrix and preconditions with
/// multigrid; here only the system is the same.
class StencilOperator : public LinearOperator {
 public:
  /// `has_neighbour[index_of(d)]` says whether the grid goes on in direction d. Requires a size of
  /// at least 1 in each direction, and fewer than 2^31 cells.
  StencilOperator(GridSize size, std::array<bool, kDirectionCount> has_neighbour);

  std::size_t row_count() const noexcept override { return row_count_; }
  std::size_t ghost_count() const noexcept override { return ghost_count_; }

  /// Whole lines in x direction.
  RowRange thread_rows(int thread, int thread_count) const override;
  void apply(const double* input, double* output, RowRange rows) const override;

  /// The cells of the block of ghosts in a direction: one layer thick where the direction is not 0.
  std::size_t block_size(Direction direction) const noexcept;

  /// The first ghost of that block. Requires has_neighbour.
  std::size_t block_begin(Direction direction) const noexcept;

 private:
  void apply_line(const double* input, double* output, int y, int z) const;
  const double* cells(const double* input, int x_step, int y, int z) const;

  GridSize size_;
  std::array<bool, kDirectionCount> has_neighbour_;
  std::array<std::size_t, kDirectionCount> block_begin_{};
  std::size_t row_count_;
  std::size_t ghost_count_ = 0;
  std::vector<double> outside_;  // a line of zeros: what lies beyond the grid
};

/// Where a process stands among all of them: MPI_Dims_create's grid, z cut first, x fastest in rank
/// order.
class ProcessGrid {
 public:
  explicit ProcessGrid(MPI_Comm comm);

  const GridSize& size() const noexcept { return size_; }

  /// The rank of the neighbour, or -1 beyond the grid.
  int neighbour(Direction direction) const noexcept;

 private:
  GridSize size_;
  Direction position_;
};

/// HPCG's system with `local_size` cells per process. Collective over `comm`, with equal sizes.
/// Errors: invalid_argument if a size is below 1 or a process would have 2^31 cells or more.
System make_stencil_system(GridSize local_size, MPI_Comm comm);

}  // namespace hycoll::cg

#endif  // HYCOLL_TOOLS_CG_STENCIL_H_
