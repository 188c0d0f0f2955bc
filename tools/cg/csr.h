#ifndef HYCOLL_TOOLS_CG_CSR_H_
#define HYCOLL_TOOLS_CG_CSR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/cg/linear_operator.h"

namespace hycoll::cg {

/// Compressed sparse rows. Columns below the row count are the process's own; column row_count + g
/// is ghost g.
struct CsrMatrix {
  std::vector<std::size_t> row_offsets;  ///< Row i is [row_offsets[i], row_offsets[i + 1]).
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

/// A sparse matrix in compressed rows. Threads get rows with about the same number of nonzeros.
class CsrOperator : public LinearOperator {
 public:
  /// Requires row_offsets with at least one element, and columns below rows + `ghost_count`.
  CsrOperator(CsrMatrix matrix, std::size_t ghost_count);

  std::size_t row_count() const noexcept override { return matrix_.row_offsets.size() - 1; }
  std::size_t ghost_count() const noexcept override { return ghost_count_; }
  RowRange thread_rows(int thread, int thread_count) const override;
  void apply(const double* input, double* output, RowRange rows) const override;

 private:
  CsrMatrix matrix_;
  std::size_t ghost_count_;
};

}  // namespace hycoll::cg

#endif  // HYCOLL_TOOLS_CG_CSR_H_
