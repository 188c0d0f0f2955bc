#ifndef HYCOLL_TOOLS_CG_LINEAR_OPERATOR_H_
#define HYCOLL_TOOLS_CG_LINEAR_OPERATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/cg/halo.h"

namespace hycoll::cg {

/// A half-open range of rows of one process, counted from its first row.
struct RowRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const noexcept { return end - begin; }
};

/// One process's rows of a symmetric positive definite matrix. Vectors that it is applied to hold
/// the process's own values followed by the ghost values of other processes, as Halo fills them.
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  virtual std::size_t row_count() const noexcept = 0;
  virtual std::size_t ghost_count() const noexcept = 0;

  /// The rows of one of `thread_count` threads. The ranges of all threads are in order, cover every
  /// row once and may be empty. Requires 0 <= thread < thread_count.
  virtual RowRange thread_rows(int thread, int thread_count) const = 0;

  /// output[i] = (matrix * input)[i] for the rows of one thread. `input` has row_count() +
  /// ghost_count() elements, `output` row_count(), and they do not overlap. Different threads may
  /// call it at once. Requires a range that thread_rows returned.
  virtual void apply(const double* input, double* output, RowRange rows) const = 0;
};

/// A system of equations whose exact solution is 1 in every row; one process's part of it.
struct System {
  std::unique_ptr<LinearOperator> matrix;
  std::unique_ptr<Halo> halo;
  std::vector<double> right_hand_side;  ///< One value per row of this process.
  std::int64_t global_row_count = 0;
  std::int64_t global_nonzero_count = 0;
  std::string description;  ///< One line for people.
};

}  // namespace hycoll::cg

#endif  // HYCOLL_TOOLS_CG_LINEAR_OPERATOR_H_
