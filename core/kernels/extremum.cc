// The kernels of minimum and maximum.

#include "core/kernels/internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/extremum.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for every instruction set.
#include <hwy/highway.h>

#include "core/kernels/loops-inl.h"
#include "core/kernels/operators-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hycoll::internal::HWY_NAMESPACE {

template <class Op>
ReduceKernel ordering_kernel(DataType type) {
  switch (type) {
    case DataType::int8:
      return &reduce<Op, std::int8_t>;
    case DataType::int16:
      return &reduce<Op, std::int16_t>;
    case DataType::int32:
      return &reduce<Op, std::int32_t>;
    case DataType::int64:
      return &reduce<Op, std::int64_t>;
    case DataType::uint8:
      return &reduce<Op, std::uint8_t>;
    case DataType::uint16:
      return &reduce<Op, std::uint16_t>;
    case DataType::uint32:
      return &reduce<Op, std::uint32_t>;
    case DataType::uint64:
      return &reduce<Op, std::uint64_t>;
    case DataType::float32:
      return &reduce<Op, float>;
    case DataType::float64:
      return &reduce<Op, double>;
  }
  return nullptr;
}

ReduceKernel find_extremum(Operator op, DataType type) {
  return op == Operator::min ? ordering_kernel<Min>(type) : ordering_kernel<Max>(type);
}

}  // namespace hycoll::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hycoll::internal {

ReduceKernel extremum_kernel(Operator op, DataType type) {
  return HYCOLL_DISPATCH(find_extremum)(op, type);
}

}  // namespace hycoll::internal
#endif
