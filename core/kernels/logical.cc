// The kernels of the logical and the bitwise operators. They do not see the sign of an integer.

#include "core/kernels/internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/logical.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for every instruction set.
#include <hwy/highway.h>

#include "core/kernels/loops-inl.h"
#include "core/kernels/operators-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hycoll::internal::HWY_NAMESPACE {

template <class Op>
ReduceKernel logical_kernel_of(DataType type) {
  switch (size_of(type)) {
    case 1:
      return &reduce<Op, std::uint8_t>;
    case 2:
      return &reduce<Op, std::uint16_t>;
    case 4:
      return &reduce<Op, std::uint32_t>;
    default:
      return &reduce<Op, std::uint64_t>;
  }
}

// Bitwise operators do not see where elements begin, so one instance serves all types.
template <class Op, std::size_t kElementBytes>
void reduce_bits(Destinations destinations, Sources sources, std::size_t count, Stores stores) {
  reduce<Op, std::uint8_t>(destinations, sources, count * kElementBytes, stores);
}

template <class Op>
ReduceKernel bits_kernel_of(DataType type) {
  switch (size_of(type)) {
    case 1:
      return &reduce_bits<Op, 1>;
    case 2:
      return &reduce_bits<Op, 2>;
    case 4:
      return &reduce_bits<Op, 4>;
    default:
      return &reduce_bits<Op, 8>;
  }
}

ReduceKernel find_logical(Operator op, DataType type) {
  switch (op) {
    case Operator::logical_and:
      return logical_kernel_of<LogicalAnd>(type);
    case Operator::logical_or:
      return logical_kernel_of<LogicalOr>(type);
    case Operator::logical_xor:
      return logical_kernel_of<LogicalXor>(type);
    case Operator::bit_and:
      return bits_kernel_of<BitAnd>(type);
    case Operator::bit_or:
      return bits_kernel_of<BitOr>(type);
    case Operator::bit_xor:
      return bits_kernel_of<BitXor>(type);
    default:
      return nullptr;
  }
}

}  // namespace hycoll::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hycoll::internal {

ReduceKernel logical_kernel(Operator op, DataType type) {
  return HYCOLL_DISPATCH(find_logical)(op, type);
}

}  // namespace hycoll::internal
#endif
