// The kernels of sum and product.

#include "core/kernels/internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/arithmetic.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for every instruction set.
#include <hwy/highway.h>

#include "core/kernels/loops-inl.h"
#include "core/kernels/operators-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hycoll::internal::HWY_NAMESPACE {

template <class Op>
ReduceKernel wrapping_kernel(DataType type) {
  switch (type) {
    case DataType::int8:
    case DataType::uint8:
      return &reduce<Op, std::uint8_t>;
    case DataType::int16:
    case DataType::uint16:
      return &reduce<Op, std::uint16_t>;
    case DataType::int32:
    case DataType::uint32:
      return &reduce<Op, std::uint32_t>;
    case DataType::int64:
    case DataType::uint64:
      return &reduce<Op, std::uint64_t>;
    case DataType::float32:
      return &reduce<Op, float>;
    case DataType::float64:
      return &reduce<Op, double>;
  }
  return nullptr;
}

ReduceKernel find_arithmetic(Operator op, DataType type) {
  return op == Operator::sum ? wrapping_kernel<Sum>(type) : wrapping_kernel<Prod>(type);
}

}  // namespace hycoll::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hycoll::internal {

ReduceKernel arithmetic_kernel(Operator op, DataType type) {
  return HYCOLL_DISPATCH(find_arithmetic)(op, type);
}

}  // namespace hycoll::internal
#endif
