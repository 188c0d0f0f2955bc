#include "tests/core/kernels/expected.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

namespace hycoll {
namespace {

template <class T>
T expected_float(Operator op, T left, T right) {
  switch (op) {
    case Operator::sum:
      return left + right;
    case Operator::prod:
      return left * right;
    case Operator::min:
      return std::isnan(right) || right < left ? right : left;
    case Operator::max:
      return std::isnan(right) || right > left ? right : left;
    default:
      FAIL("undefined");
      return left;
  }
}

template <class T>
T expected_integer(Operator op, T left, T right) {
  const auto a = static_cast<std::uint64_t>(left);
  const auto b = static_cast<std::uint64_t>(right);
  const bool is_a = left != 0;
  const bool is_b = right != 0;
  switch (op) {
    case Operator::sum:
      return static_cast<T>(a + b);
    case Operator::prod:
      return static_cast<T>(a * b);
    case Operator::min:
      return right < left ? right : left;
    case Operator::max:
      return right > left ? right : left;
    case Operator::logical_and:
      return is_a && is_b ? 1 : 0;
    case Operator::logical_or:
      return is_a || is_b ? 1 : 0;
    case Operator::logical_xor:
      return is_a != is_b ? 1 : 0;
    case Operator::bit_and:
      return static_cast<T>(a & b);
    case Operator::bit_or:
      return static_cast<T>(a | b);
    case Operator::bit_xor:
      return static_cast<T>(a ^ b);
  }
  FAIL("unknown operator");
  return left;
}

template <class T>
T expected_value(Operator op, T left, T right) {
  if constexpr (std::is_floating_point_v<T>) {
    return expected_float(op, left, right);
  } else {
    return expected_integer(op, left, right);
  }
}

/// Uniform bits would hide mistakes: products would vanish, conjunctions would be nearly always
/// zero.
template <class T>
T random_integer(Operator op, std::mt19937_64& random) {
  const std::uint64_t bits = random();
  switch (op) {
    case Operator::prod:
      return static_cast<T>(random() % 16 == 0 ? bits : bits | 1);
    case Operator::logical_and:
    case Operator::logical_or:
    case Operator::logical_xor:
      // Zero, a single bit anywhere, or anything.
      return static_cast<T>(bits % 3 == 0   ? 0
                            : bits % 3 == 1 ? std::uint64_t{1} << (random() % 64)
                                            : random());
    case Operator::bit_and:
      return static_cast<T>(bits | random() | random());
    default:
      return static_cast<T>(bits);
  }
}

template <class T>
T random_float(std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const std::uint64_t bits = random();
  const auto payload = static_cast<Bits>(1 + bits % 1000);
  switch (random() % 32) {
    case 0:
      return std::bit_cast<T>(
          static_cast<Bits>(std::bit_cast<Bits>(Limits::quiet_NaN()) | payload));
    case 1:
      return T{0};
    case 2:
      return -T{0};
    case 3:
      return Limits::infinity();
    case 4:
      return -Limits::infinity();
    case 5:
      return Limits::denorm_min() * static_cast<T>(payload);
    case 6:
      return Limits::max();
    default:
      return static_cast<T>(static_cast<std::int64_t>(bits)) /
             static_cast<T>(std::uint64_t{1} << 62);
  }
}

template <class T>
T random_value(Operator op, std::mt19937_64& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return random_float<T>(random);
  } else {
    return random_integer<T>(op, random);
  }
}

template <class T>
std::vector<std::byte> to_bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
ReductionData make_data_of(Operator op, std::size_t source_count, std::size_t count) {
  std::mt19937_64 random(count + 1000 * static_cast<std::size_t>(op));
  ReductionData data{op, data_type_of<T>(), {}, {}};
  std::vector<T> result;
  for (std::size_t k = 0; k < source_count; ++k) {
    std::vector<T> source(count);
    for (T& value : source) value = random_value<T>(op, random);
    if (k == 0) result = source;
    for (std::size_t i = 0; k > 0 && i < count; ++i)
      result[i] = expected_value<T>(op, result[i], source[i]);
    data.sources.push_back(to_bytes(source));
    data.results.push_back(to_bytes(result));
  }
  return data;
}

template <class T>
bool equal_but_for_nan(const std::byte* left, const std::byte* right, std::size_t size_bytes) {
  for (std::size_t i = 0; i < size_bytes; i += sizeof(T)) {
    T a, b;
    std::memcpy(&a, left + i, sizeof(T));
    std::memcpy(&b, right + i, sizeof(T));
    const bool both_nan = std::isnan(a) && std::isnan(b);
    if (!both_nan && std::memcmp(&a, &b, sizeof(T)) != 0) return false;
  }
  return true;
}

}  // namespace

float expected_result(Operator op, float left, float right) {
  return expected_float(op, left, right);
}

ReductionData make_data(Operator op, DataType type, std::size_t source_count, std::size_t count) {
  switch (type) {
    case DataType::int8:
      return make_data_of<std::int8_t>(op, source_count, count);
    case DataType::int16:
      return make_data_of<std::int16_t>(op, source_count, count);
    case DataType::int32:
      return make_data_of<std::int32_t>(op, source_count, count);
    case DataType::int64:
      return make_data_of<std::int64_t>(op, source_count, count);
    case DataType::uint8:
      return make_data_of<std::uint8_t>(op, source_count, count);
    case DataType::uint16:
      return make_data_of<std::uint16_t>(op, source_count, count);
    case DataType::uint32:
      return make_data_of<std::uint32_t>(op, source_count, count);
    case DataType::uint64:
      return make_data_of<std::uint64_t>(op, source_count, count);
    case DataType::float32:
      return make_data_of<float>(op, source_count, count);
    case DataType::float64:
      return make_data_of<double>(op, source_count, count);
  }
  FAIL("unknown type");
  return {};
}

bool is_result(const ReductionData& data, const std::byte* actual, const std::byte* expected,
               std::size_t size_bytes) {
  if (size_bytes == 0 || std::memcmp(actual, expected, size_bytes) == 0) return true;
  if (data.op != Operator::sum && data.op != Operator::prod) return false;
  if (data.type == DataType::float32) return equal_but_for_nan<float>(actual, expected, size_bytes);
  if (data.type == DataType::float64)
    return equal_but_for_nan<double>(actual, expected, size_bytes);
  return false;
}

}  // namespace hycoll
