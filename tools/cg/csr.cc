#include "tools/cg/csr.h"

#include <algorithm>
#include <utility>

namespace hycoll::cg {

CsrOperator::CsrOperator(CsrMatrix matrix, std::size_t ghost_count)
    : matrix_(std::move(matrix)), ghost_count_(ghost_count) {}

RowRange CsrOperator::thread_rows(int thread, int thread_count) const {
  // A row costs its nonzeros in the product and about two more in the vector updates, which also
  // keeps empty rows from piling up on one thread.
  constexpr std::size_t kRowCost = 2;
  const auto cost_before = [&](std::size_t row) {
    return matrix_.row_offsets[row] + kRowCost * row;
  };
  const auto first_row = [&](int index) {
    const std::size_t share = cost_before(row_count()) * static_cast<std::size_t>(index) /
                              static_cast<std::size_t>(thread_count);
    std::size_t low = 0;
    std::size_t high = row_count();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (cost_before(middle) < share) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  return {first_row(thread), first_row(thread + 1)};
}

void CsrOperator::apply(const double* input, double* output, RowRange rows) const {
  const std::size_t* const offsets = matrix_.row_offsets.data();
  const std::int32_t* const columns = matrix_.columns.data();
  const double* const values = matrix_.values.data();
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    double sum = 0.0;
    for (std::size_t k = offsets[row]; k < offsets[row + 1]; ++k) {
      sum += values[k] * input[columns[k]];
    }
    output[row] = sum;
  }
}

}  // namespace hycoll::cg
