// The operators on Highway's vectors, compiled once per instruction set. Each has
//   apply(tag, accumulated, next): accumulated op next, lane by lane,
// and gives the same bits on every instruction set and vector length.

#if defined(HYCOLL_CORE_KERNELS_OPERATORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HYCOLL_CORE_KERNELS_OPERATORS_INL_H_
#undef HYCOLL_CORE_KERNELS_OPERATORS_INL_H_
#else
#define HYCOLL_CORE_KERNELS_OPERATORS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace hycoll::internal::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Integers arrive as unsigned: wrap-around is then defined, and the bits are those of the signed
// type.
struct Sum {
  template <class D, class V>
  static HWY_INLINE V apply(D /*tag*/, V accumulated, V next) {
    return hn::Add(accumulated, next);
  }
};

struct Prod {
  template <class D, class V>
  static HWY_INLINE V apply(D tag, V accumulated, V next) {
    using T = hn::TFromD<D>;
    if constexpr (hwy::IsFloat<T>()) {
      return hn::Mul(accumulated, next);
    } else if constexpr (hn::MaxLanes(D()) == 1) {
      // In 64 bits, because two uint16_t would be promoted to int and overflow.
      return hn::Set(tag,
                     static_cast<T>(std::uint64_t{hn::GetLane(accumulated)} * hn::GetLane(next)));
    } else if constexpr (sizeof(T) == 1) {
      return multiply_bytes(tag, accumulated, next);
    } else {
      return hn::Mul(accumulated, next);
    }
  }

 private:
  // No instruction set multiplies bytes: the even and the odd ones take turns as the low half of 16
  // bits.
  template <class D, class V>
  static HWY_INLINE V multiply_bytes(D tag, V a, V b) {
    const hn::Repartition<std::uint16_t, D> wide;
    const auto even = hn::Mul(hn::BitCast(wide, a), hn::BitCast(wide, b));
    const auto odd =
        hn::Mul(hn::ShiftRight<8>(hn::BitCast(wide, a)), hn::ShiftRight<8>(hn::BitCast(wide, b)));
    const auto low = hn::And(even, hn::Set(wide, std::uint16_t{0xFF}));
    return hn::BitCast(tag, hn::Or(low, hn::ShiftLeft<8>(odd)));
  }
};

// For floating point a NaN stays once it has appeared, and of equal values (the two zeros) the
// first one stays. Highway leaves both open; x86's vector instructions return the second operand in
// these cases, which saves the comparison that other targets need, fallbacks in plain C++ too.
#if HWY_ARCH_X86 && HWY_TARGET <= (1LL << HWY_HIGHEST_TARGET_BIT_X86)
#define HYCOLL_SECOND_OPERAND_WINS 1
#else
#define HYCOLL_SECOND_OPERAND_WINS 0
#endif

struct Min {
  template <class D, class V>
  static HWY_INLINE V apply(D /*tag*/, V accumulated, V next) {
    if constexpr (!hwy::IsFloat<hn::TFromD<D>>()) {
      return hn::Min(accumulated, next);
    } else if constexpr (HYCOLL_SECOND_OPERAND_WINS) {
      return hn::IfThenElse(hn::IsNaN(next), next, hn::Min(next, accumulated));
    } else {
      return hn::IfThenElse(hn::Or(hn::Lt(next, accumulated), hn::IsNaN(next)), next, accumulated);
    }
  }
};

struct Max {
  template <class D, class V>
  static HWY_INLINE V apply(D /*tag*/, V accumulated, V next) {
    if constexpr (!hwy::IsFloat<hn::TFromD<D>>()) {
      return hn::Max(accumulated, next);
    } else if constexpr (HYCOLL_SECOND_OPERAND_WINS) {
      return hn::IfThenElse(hn::IsNaN(next), next, hn::Max(next, accumulated));
    } else {
      return hn::IfThenElse(hn::Or(hn::Gt(next, accumulated), hn::IsNaN(next)), next, accumulated);
    }
  }
};

#undef HYCOLL_SECOND_OPERAND_WINS

struct LogicalAnd {
  template <class D, class V>
  static HWY_INLINE V apply(D tag, V accumulated, V next) {
    const V zero = hn::Zero(tag);
    const auto is_false = hn::Or(hn::Eq(accumulated, zero), hn::Eq(next, zero));
    return hn::IfThenZeroElse(is_false, hn::Set(tag, hn::TFromD<D>{1}));
  }
};

struct LogicalOr {
  template <class D, class V>
  static HWY_INLINE V apply(D tag, V accumulated, V next) {
    const auto is_false = hn::Eq(hn::Or(accumulated, next), hn::Zero(tag));
    return hn::IfThenZeroElse(is_false, hn::Set(tag, hn::TFromD<D>{1}));
  }
};

struct LogicalXor {
  template <class D, class V>
  static HWY_INLINE V apply(D tag, V accumulated, V next) {
    const V zero = hn::Zero(tag);
    const auto differ = hn::Xor(hn::Eq(accumulated, zero), hn::Eq(next, zero));
    return hn::IfThenElseZero(differ, hn::Set(tag, hn::TFromD<D>{1}));
  }
};

struct BitAnd {
  template <class D, class V>
  static HWY_INLINE V apply(D /*tag*/, V accumulated, V next) {
    return hn::And(accumulated, next);
  }
};

struct BitOr {
  template <class D, class V>
  static HWY_INLINE V apply(D /*tag*/, V accumulated, V next) {
    return hn::Or(accumulated, next);
  }
};

struct BitXor {
  template <class D, class V>
  static HWY_INLINE V apply(D /*tag*/, V accumulated, V next) {
    return hn::Xor(accumulated, next);
  }
};

}  // namespace hycoll::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HYCOLL_CORE_KERNELS_OPERATORS_INL_H_
