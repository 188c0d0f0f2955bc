#include "core/kernels/kernels.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/errors.h"
#include "core/kernels/internal.h"

namespace hycoll {
namespace internal {
namespace {

// Below this size the separate head costs more than the crossed lines.
constexpr std::size_t kMinBytesToAlign = 2048;

}  // namespace

std::size_t elements_before_line(std::span<const void* const> addresses,
                                 std::size_t element_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(addresses[0]);
  for (const void* const address : addresses) {
    if ((reinterpret_cast<std::uintptr_t>(address) - first) % kCacheLineBytes != 0)
      return kNoCommonLine;
  }
  const std::size_t bytes = (kCacheLineBytes - first % kCacheLineBytes) % kCacheLineBytes;
  return bytes % element_bytes == 0 ? bytes / element_bytes : kNoCommonLine;
}

std::size_t elements_to_align(const void* destination, const void* source, std::size_t count,
                              std::size_t element_bytes) {
  if (count * element_bytes < kMinBytesToAlign) return 0;
  const void* const addresses[] = {destination, source};
  const std::size_t before_line = elements_before_line(addresses, element_bytes);
  return before_line == kNoCommonLine ? 0 : before_line;
}

}  // namespace internal

ReduceKernel reduce_kernel(Operator op, DataType type) {
  HYCOLL_ASSERT(is_defined_for(op, type), "logical and bitwise operators need an integer type");
  switch (op) {
    case Operator::sum:
    case Operator::prod:
      return internal::arithmetic_kernel(op, type);
    case Operator::min:
    case Operator::max:
      return internal::extremum_kernel(op, type);
    default:
      return internal::logical_kernel(op, type);
  }
}

}  // namespace hycoll
