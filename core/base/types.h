#ifndef HYCOLL_CORE_BASE_TYPES_H_
#define HYCOLL_CORE_BASE_TYPES_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace hycoll {

/// The element types that hycoll reduces with its own kernels.
enum class DataType : std::uint8_t {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
};
/// The number of element types.
inline constexpr int kDataTypeCount = 10;

/// The predefined operators of MPI that act on one element. All are commutative and treated as
/// associative. Integer sum and product wrap around; the logical operators yield 0 or 1.
///
/// Example: which of them MPI allows on a type.
///
///     check(hycoll::is_defined_for(hycoll::Operator::bit_or, hycoll::DataType::uint32));
///     check(!hycoll::is_defined_for(hycoll::Operator::bit_or, hycoll::DataType::float64));
enum class Operator : std::uint8_t {
  sum,
  prod,
  min,
  max,
  logical_and,
  logical_or,
  logical_xor,
  bit_and,
  bit_or,
  bit_xor,
};
/// The number of operators.
inline constexpr int kOperatorCount = 10;

/// The size of one element in bytes.
constexpr std::size_t size_of(DataType type) noexcept {
  constexpr std::size_t sizes[kDataTypeCount] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
  return sizes[static_cast<int>(type)];
}

/// Whether elements are float or double.
constexpr bool is_floating_point(DataType type) noexcept {
  return type == DataType::float32 || type == DataType::float64;
}

/// Whether MPI allows the operator on the type: logical and bitwise operators need an integer type.
constexpr bool is_defined_for(Operator op, DataType type) noexcept {
  return op <= Operator::max || !is_floating_point(type);
}

/// The lower-case name that the command line, the reports and the error messages use.
std::string_view name_of(DataType type) noexcept;
/// The same of an operator.
std::string_view name_of(Operator op) noexcept;

/// The inverse of name_of; empty when no such name exists.
std::optional<DataType> parse_data_type(std::string_view name) noexcept;
/// The same of operators.
std::optional<Operator> parse_operator(std::string_view name) noexcept;

/// A C++ type that has a DataType: every integer type but bool, float and double.
template <class T>
concept Element =
    (std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool>) ||
    std::same_as<std::remove_cv_t<T>, float> || std::same_as<std::remove_cv_t<T>, double>;

/// The DataType of a C++ type.
template <Element T>
constexpr DataType data_type_of() noexcept {
  if constexpr (std::same_as<std::remove_cv_t<T>, float>) {
    return DataType::float32;
  } else if constexpr (std::same_as<std::remove_cv_t<T>, double>) {
    return DataType::float64;
  } else {
    constexpr int width = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<DataType>((std::signed_integral<T> ? 0 : 4) + width);
  }
}

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_TYPES_H_
