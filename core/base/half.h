#ifndef HYCOLL_CORE_BASE_HALF_H_
#define HYCOLL_CORE_BASE_HALF_H_

#include <bit>
#include <cstdint>

namespace hycoll {

/// Numbers of 16 bits, which MPI 4 has no types for. Sums, products, minima and maxima of them are
/// computed in float, over all vectors that a worker combines at a time, and then rounded.
enum class HalfType : std::uint8_t { float16, bfloat16 };

/// A number of 16 bits: IEEE binary16, with 11 digits in base 2, up to 65504. For storage and
/// messages; programs compute with float.
class float16 {
 public:
  float16() = default;
  /// The nearest one; of two, the one that is even. Beyond the largest, infinity.
  explicit float16(float value) noexcept : bits_(bits_of(value)) {}
  /// The same number.
  explicit operator float() const noexcept;
  /// The number that these bits stand for.
  static float16 from_bits(std::uint16_t bits) noexcept {
    float16 made;
    made.bits_ = bits;
    return made;
  }
  /// As they are stored and sent.
  std::uint16_t bits() const noexcept { return bits_; }

 private:
  static std::uint16_t bits_of(float value) noexcept;
  std::uint16_t bits_ = 0;
};

/// A number of 16 bits: the upper half of a float, with 8 digits in base 2 and float's range. For
/// storage and messages; programs compute with float.
///
/// Example: a gradient in 16 bits, summed over all processes.
///
///     hycoll::Communicator communicator(MPI_COMM_WORLD);
///     std::vector<hycoll::bfloat16> gradient(100, hycoll::bfloat16(0.5f));
///     communicator.allreduce(gradient);
///     check(static_cast<float>(gradient[0]) == 0.5f * communicator.size());
class bfloat16 {
 public:
  bfloat16() = default;
  /// The nearest one; of two, the one that is even.
  explicit bfloat16(float value) noexcept : bits_(bits_of(value)) {}
  /// The same number.
  explicit operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
  }
  /// The number that these bits stand for.
  static bfloat16 from_bits(std::uint16_t bits) noexcept {
    bfloat16 made;
    made.bits_ = bits;
    return made;
  }
  /// As they are stored and sent.
  std::uint16_t bits() const noexcept { return bits_; }

 private:
  static std::uint16_t bits_of(float value) noexcept;
  std::uint16_t bits_ = 0;
};

inline float16::operator float() const noexcept {
  // As a float with half's exponent: the exponent is then corrected, or, where there is none, the
  // digits become those of a number whose implied one is subtracted.
  constexpr std::uint32_t kExponent = 0x7c00u << 13;
  constexpr std::uint32_t kBias = 112u << 23;
  std::uint32_t bits = (bits_ & 0x7fffu) << 13;
  const std::uint32_t exponent = bits & kExponent;
  bits += kBias;
  if (exponent == kExponent) {
    bits += kBias;  // infinite, or not a number
  } else if (exponent == 0) {
    bits += 1u << 23;
    bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) - 0x1p-14f);
  }
  return std::bit_cast<float>(bits | (bits_ & 0x8000u) << 16);
}

inline std::uint16_t float16::bits_of(float value) noexcept {
  const auto all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (all >> 16) & 0x8000u;
  std::uint32_t bits = all & 0x7fffffffu;
  if (bits > 0x7f800000u) {
    bits = 0x7e00u;  // not a number
  } else if (bits >= 0x47800000u) {
    bits = 0x7c00u;  // 65536 and more
  } else if (bits < 0x38800000u) {
    // Below 2^-14 there is no implied one: the sum's lowest digit is half's.
    bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) + 0.5f) - 0x3f000000u;
  } else {
    bits = (bits - (112u << 23) + 0xfffu + ((bits >> 13) & 1u)) >> 13;
  }
  return static_cast<std::uint16_t>(bits | sign);
}

inline std::uint16_t bfloat16::bits_of(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40u);  // stays not a number
  }
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_HALF_H_
