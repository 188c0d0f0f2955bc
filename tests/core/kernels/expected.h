#ifndef HYCOLL_TESTS_CORE_KERNELS_EXPECTED_H_
#define HYCOLL_TESTS_CORE_KERNELS_EXPECTED_H_

#include <cstddef>
#include <vector>

#include "core/base/types.h"

namespace hycoll {

/// The sources' data, and the results of folding the first 1, 2, ... of them, all as bytes.
struct ReductionData {
  Operator op;
  DataType type;
  std::vector<std::vector<std::byte>> sources;
  std::vector<std::vector<std::byte>> results;  ///< results[k]: of sources 0..k
};

/// Of two floats; the operator is sum, product, minimum or maximum.
float expected_result(Operator op, float left, float right);

/// Random sources, NaN and the other special values among them, reduced from the left by arithmetic
/// that shares nothing with the kernels.
ReductionData make_data(Operator op, DataType type, std::size_t source_count, std::size_t count);

/// Bit for bit; only which NaN a sum or a product of several NaN is, is left to the processor.
bool is_result(const ReductionData& data, const std::byte* actual, const std::byte* expected,
               std::size_t size_bytes);

}  // namespace hycoll

#endif  // HYCOLL_TESTS_CORE_KERNELS_EXPECTED_H_
