// The kernels of numbers of 16 bits: against floats that are rounded one by one, for all numbers
// that there are, and for vectors of any length and alignment.
#include "core/base/half.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "core/kernels/kernels.h"
#include "tests/core/kernels/expected.h"
#include "tests/core/kernels/fixture.h"

namespace hycoll::half_test {
namespace {

constexpr std::uint32_t kNumbers = 1u << 16;

template <class Half>
constexpr HalfType kTypeOf = std::is_same_v<Half, float16> ? HalfType::float16 : HalfType::bfloat16;

template <class Half>
float value_of(std::uint16_t bits) {
  return static_cast<float>(Half::from_bits(bits));
}

bool is_nan(float value) { return std::isnan(value); }

/// By the definition: sign, exponent, and digits.
template <class Half>
double defined_value(std::uint16_t bits) {
  constexpr int kDigits = std::is_same_v<Half, float16> ? 10 : 7;
  constexpr int kBias = std::is_same_v<Half, float16> ? 15 : 127;
  const int exponent = (bits & 0x7fff) >> kDigits;
  const int digits = bits & ((1 << kDigits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 2 * kBias + 1) {
    return digits == 0 ? sign * std::numeric_limits<double>::infinity()
                       : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(digits, 1 - kBias - kDigits);
  return sign * std::ldexp((1 << kDigits) + digits, exponent - kBias - kDigits);
}

TEST_CASE_TEMPLATE("numbers are what their bits say, and are rounded to the nearest", Half, float16,
                   bfloat16) {
  for (std::uint32_t i = 0; i < kNumbers; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float value = value_of<Half>(bits);
    const double defined = defined_value<Half>(bits);
    if (std::isnan(defined)) {
      CHECK(is_nan(value));
      CHECK(is_nan(value_of<Half>(Half(value).bits())));
      continue;
    }
    CHECK(static_cast<double>(value) == defined);
    CHECK(Half(value).bits() == bits);
    // What lies between this one and the next: the nearer one, or the even one.
    const std::uint16_t next = static_cast<std::uint16_t>(bits + 1);
    if (std::isinf(defined) || std::isnan(defined_value<Half>(next))) continue;
    const double above =
        std::isinf(defined_value<Half>(next))
            ? 2 * defined - defined_value<Half>(static_cast<std::uint16_t>(bits - 1))
            : defined_value<Half>(next);
    const float middle = static_cast<float>((defined + above) / 2);
    CHECK(Half(middle).bits() == (bits % 2 == 0 ? bits : next));
    const float toward = std::nextafter(middle, value);
    CHECK(Half(toward).bits() == bits);
    const float beyond = std::nextafter(middle, static_cast<float>(above));
    CHECK(Half(beyond).bits() == next);
  }
}

template <class Half>
void check_kernel(Operator op, std::size_t source_count, std::size_t count, std::size_t offset,
                  Stores stores, std::mt19937& random) {
  std::vector<std::vector<std::uint16_t>> inputs(source_count,
                                                 std::vector<std::uint16_t>(count + offset));
  for (auto& input : inputs) {
    for (std::uint16_t& bits : input) bits = static_cast<std::uint16_t>(random());
  }
  std::vector<std::uint16_t> output(count + offset + 1, 0x1234);
  std::vector<const void*> sources;
  for (auto& input : inputs) sources.push_back(input.data() + offset);
  // The first destination is a source: in place.
  const std::vector<std::vector<std::uint16_t>> before = inputs;
  const std::vector<void*> destinations = {inputs[0].data() + offset, output.data() + offset};
  half_kernel(op, kTypeOf<Half>)(destinations, sources, count, stores);
  int wrong = 0;
  for (std::size_t i = offset; i < count + offset; ++i) {
    float expected = value_of<Half>(before[0][i]);
    for (std::size_t s = 1; s < source_count; ++s) {
      expected = expected_result(op, expected, value_of<Half>(before[s][i]));
    }
    const std::uint16_t bits = source_count == 1 ? before[0][i] : Half(expected).bits();
    const bool is_right = is_nan(expected) ? is_nan(value_of<Half>(output[i])) : output[i] == bits;
    wrong += is_right && output[i] == inputs[0][i] ? 0 : 1;
  }
  CHECK_MESSAGE(wrong == 0, "operator ", static_cast<int>(op), ", ", source_count, " sources, ",
                count, " elements");
  CHECK(output.back() == 0x1234);
}

TEST_CASE_TEMPLATE("sums, products and extrema are those of floats, rounded once", Half, float16,
                   bfloat16) {
  on_every_instruction_set([] {
    std::mt19937 random(7);
    for (const Operator op : {Operator::sum, Operator::prod, Operator::min, Operator::max}) {
      for (const std::size_t count : {0, 1, 2, 7, 8, 15, 16, 33, 1000, 1024, 1025, 5000}) {
        for (const std::size_t sources : {1, 2, 3, 5, 20}) {
          check_kernel<Half>(op, sources, count, count % 3, Stores::cached, random);
        }
        check_kernel<Half>(op, 2, count, 0, Stores::streaming, random);
      }
    }
  });
}

TEST_CASE("the sum of many small numbers is not lost in a large one") {
  // 2048 + 1 is 2048 among numbers with 11 digits; floats keep the ones.
  std::vector<std::uint16_t> ones(1, float16(1.0f).bits());
  std::vector<std::uint16_t> large(1, float16(2048.0f).bits());
  std::vector<const void*> sources(9, ones.data());
  sources[0] = large.data();
  std::uint16_t sum = 0;
  void* const destination = &sum;
  half_kernel(Operator::sum, HalfType::float16)({&destination, 1}, sources, 1, Stores::cached);
  CHECK(value_of<float16>(sum) == 2056.0f);
}

}  // namespace
}  // namespace hycoll::half_test
