// The kernels of numbers of 16 bits. Blocks of all sources are folded in float, in the first-level
// cache, and rounded once.

#include "core/kernels/internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/half.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for every instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/base/errors.h"
#include "core/kernels/loops-inl.h"
#include "core/kernels/operators-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hycoll::internal::HWY_NAMESPACE {

using Floats = hn::ScalableTag<float>;
using Words = hn::Rebind<std::uint32_t, Floats>;
using Signed = hn::Rebind<std::int32_t, Floats>;
using Halves = hn::Rebind<std::uint16_t, Floats>;
using FloatVector = hn::Vec<Floats>;
using WordVector = hn::Vec<Words>;

HWY_INLINE FloatVector as_floats(WordVector bits) { return hn::BitCast(Floats(), bits); }
HWY_INLINE WordVector as_words(FloatVector values) { return hn::BitCast(Words(), values); }
HWY_INLINE WordVector word(std::uint32_t value) { return hn::Set(Words(), value); }

/// Rounds off the lowest bits, to the nearest, of two to the even one: adds what carries. Shifts
/// keep the rest.
template <int kBits>
HWY_INLINE WordVector rounded(WordVector bits) {
  const WordVector is_odd = hn::And(hn::ShiftRight<kBits>(bits), word(1));
  const WordVector below_half = word((1u << (kBits - 1)) - 1);
  return hn::ShiftRight<kBits>(hn::Add(bits, hn::Add(below_half, is_odd)));
}

// As hycoll::bfloat16 does one by one.
struct Bfloat16 {
  static HWY_INLINE FloatVector to_floats(WordVector halves) {
    return as_floats(hn::ShiftLeft<16>(halves));
  }
  static HWY_INLINE WordVector from_floats(FloatVector values) {
    const WordVector bits = as_words(values);
    const auto is_nan =
        hn::MaskFromVec(hn::BitCast(Words(), hn::VecFromMask(Floats(), hn::IsNaN(values))));
    return hn::IfThenElse(is_nan, hn::Or(hn::ShiftRight<16>(bits), word(0x40)), rounded<16>(bits));
  }
};

// As hycoll::float16 does one by one, where the steps are explained.
struct Float16 {
  static HWY_INLINE FloatVector to_floats(WordVector halves) {
    const WordVector sign = hn::ShiftLeft<16>(hn::And(halves, word(0x8000)));
    const WordVector digits = hn::ShiftLeft<13>(hn::And(halves, word(0x7fff)));
    const WordVector exponent = hn::And(digits, word(0x7c00u << 13));
    const WordVector bias = word(112u << 23);
    const WordVector normal = hn::Add(digits, bias);
    const WordVector small =
        as_words(hn::Sub(as_floats(hn::Add(normal, word(1u << 23))), hn::Set(Floats(), 0x1p-14f)));
    const WordVector beyond = hn::Add(normal, bias);
    WordVector bits = hn::IfThenElse(hn::Eq(exponent, hn::Zero(Words())), small, normal);
    bits = hn::IfThenElse(hn::Eq(exponent, word(0x7c00u << 13)), beyond, bits);
    return as_floats(hn::Or(bits, sign));
  }
  static HWY_INLINE WordVector from_floats(FloatVector values) {
    const WordVector all = as_words(values);
    const WordVector sign = hn::And(hn::ShiftRight<16>(all), word(0x8000));
    const WordVector bits = hn::And(all, word(0x7fffffff));
    const WordVector normal = rounded<13>(hn::Sub(bits, word(112u << 23)));
    const WordVector small =
        hn::Sub(as_words(hn::Add(as_floats(bits), hn::Set(Floats(), 0.5f))), word(0x3f000000));
    // Without the sign, words compare as signed ones do.
    WordVector half = hn::IfThenElse(is_less(bits, 0x38800000), small, normal);
    half = hn::IfThenElse(is_less(bits, 0x47800000), half, word(0x7c00));
    half = hn::IfThenElse(is_less(bits, 0x7f800001), half, word(0x7e00));
    return hn::Or(half, sign);
  }

 private:
  static HWY_INLINE hn::Mask<Words> is_less(WordVector bits, std::int32_t than) {
    const auto mask = hn::Lt(hn::BitCast(Signed(), bits), hn::Set(Signed(), than));
    return hn::MaskFromVec(hn::BitCast(Words(), hn::VecFromMask(Signed(), mask)));
  }
};

// Floats of a block, in the first-level cache beside the sources' halves; a multiple of all
// vectors.
inline constexpr std::size_t kBlockElements = 1024;

template <class Format>
HWY_INLINE FloatVector load(const std::uint16_t* from) {
  return Format::to_floats(hn::PromoteTo(Words(), hn::LoadU(Halves(), from)));
}

/// Begins with the block's first source, or combines one with what there is.
template <class Op, class Format, bool kIsFirst>
HWY_INLINE void fold(const std::uint16_t* from, std::size_t count, float* folded) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(Floats())) {
    const FloatVector next = load<Format>(from + i);
    if constexpr (kIsFirst) {
      hn::StoreU(next, Floats(), folded + i);
    } else {
      hn::StoreU(Op::apply(Floats(), hn::LoadU(Floats(), folded + i), next), Floats(), folded + i);
    }
  }
}

/// Where the block of a source lies in whole vectors: there, or in `padded`.
HWY_INLINE const std::uint16_t* whole(const void* source, Range block, std::size_t padded_count,
                                      std::uint16_t* padded) {
  const std::uint16_t* const from = static_cast<const std::uint16_t*>(source) + block.begin;
  const std::size_t count = block.end - block.begin;
  if (padded_count == count) return from;
  std::memcpy(padded, from, count * sizeof *from);
  return padded;
}

/// The ReduceKernel of an operator and a format on this instruction set.
template <class Op, class Format>
void reduce_halves(Destinations destinations, Sources sources, std::size_t count, Stores stores) {
  if (sources.size() == 1)
    return copy_kernel(destinations, sources[0], count * sizeof(std::uint16_t), stores);
  alignas(kCacheLineBytes) float folded[kBlockElements];
  alignas(kCacheLineBytes) std::uint16_t halves[kBlockElements] = {};
  const std::size_t lanes = hn::Lanes(Floats());
  for (std::size_t begin = 0; begin < count; begin += kBlockElements) {
    const Range block = {begin, std::min(count, begin + kBlockElements)};
    const std::size_t size = block.end - begin;
    const std::size_t padded = (size + lanes - 1) / lanes * lanes;
    fold<Op, Format, true>(whole(sources[0], block, padded, halves), padded, folded);
    for (const void* const source : sources.subspan(1)) {
      fold<Op, Format, false>(whole(source, block, padded, halves), padded, folded);
    }
    for (std::size_t i = 0; i < padded; i += lanes) {
      const WordVector result = Format::from_floats(hn::LoadU(Floats(), folded + i));
      hn::StoreU(hn::DemoteTo(Halves(), hn::BitCast(Signed(), result)), Halves(), halves + i);
    }
    for (void* const destination : destinations) {
      copy_block(static_cast<std::uint16_t*>(destination) + begin, halves, size * sizeof *halves,
                 stores);
    }
  }
  if (stores == Stores::streaming) hwy::FlushStream();
}

template <class Format>
ReduceKernel of_operator(Operator op) {
  switch (op) {
    case Operator::sum:
      return &reduce_halves<Sum, Format>;
    case Operator::prod:
      return &reduce_halves<Prod, Format>;
    case Operator::min:
      return &reduce_halves<Min, Format>;
    case Operator::max:
      return &reduce_halves<Max, Format>;
    default:
      return nullptr;
  }
}

ReduceKernel find_half(Operator op, HalfType type) {
  return type == HalfType::float16 ? of_operator<Float16>(op) : of_operator<Bfloat16>(op);
}

}  // namespace hycoll::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hycoll {
namespace internal {

ReduceKernel dispatched_half(Operator op, HalfType type) {
  return HYCOLL_DISPATCH(find_half)(op, type);
}

}  // namespace internal

ReduceKernel half_kernel(Operator op, HalfType type) {
  HYCOLL_ASSERT(op <= Operator::max, "logical and bitwise operators need an integer type");
  return internal::dispatched_half(op, type);
}

}  // namespace hycoll
#endif
