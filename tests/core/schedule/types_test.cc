#include "core/base/types.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

namespace hycoll {
namespace types_test {

template <class T>
void check_type(DataType type, std::string_view name) {
  CAPTURE(name);
  CHECK(data_type_of<T>() == type);
  CHECK(data_type_of<const T>() == type);
  CHECK(size_of(type) == sizeof(T));
  CHECK(is_floating_point(type) == std::is_floating_point_v<T>);
  CHECK(name_of(type) == name);
}

TEST_CASE("data types have the size, the kind and the name of their C++ type") {
  check_type<std::int8_t>(DataType::int8, "int8");
  check_type<std::int16_t>(DataType::int16, "int16");
  check_type<std::int32_t>(DataType::int32, "int32");
  check_type<std::int64_t>(DataType::int64, "int64");
  check_type<std::uint8_t>(DataType::uint8, "uint8");
  check_type<std::uint16_t>(DataType::uint16, "uint16");
  check_type<std::uint32_t>(DataType::uint32, "uint32");
  check_type<std::uint64_t>(DataType::uint64, "uint64");
  check_type<float>(DataType::float32, "float");
  check_type<double>(DataType::float64, "double");
}

TEST_CASE("integer types that are distinct in C++ map by size and sign") {
  CHECK(data_type_of<long>() == data_type_of<std::int64_t>());
  CHECK(data_type_of<long long>() == DataType::int64);
  CHECK(data_type_of<unsigned long long>() == DataType::uint64);
  CHECK(data_type_of<signed char>() == DataType::int8);
  CHECK(data_type_of<unsigned char>() == DataType::uint8);
  CHECK(data_type_of<char>() == (std::is_signed_v<char> ? DataType::int8 : DataType::uint8));
}

TEST_CASE("only integers, float and double are elements") {
  static_assert(Element<int>);
  static_assert(Element<const double>);
  static_assert(!Element<bool>);
  static_assert(!Element<const bool>);
  static_assert(!Element<long double>);
  static_assert(!Element<int*>);
}

TEST_CASE("names are distinct and are parsed back") {
  std::set<std::string_view> names;
  for (int i = 0; i < kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    CHECK(parse_data_type(name_of(type)) == type);
    CHECK(names.insert(name_of(type)).second);
  }
  for (int i = 0; i < kOperatorCount; ++i) {
    const auto op = static_cast<Operator>(i);
    CHECK(parse_operator(name_of(op)) == op);
    CHECK(names.insert(name_of(op)).second);
  }
}

TEST_CASE("unknown names are refused") {
  for (const std::string_view name : {"", "Float", "int", "int32 ", "sum", "float32"}) {
    CAPTURE(name);
    CHECK(!parse_data_type(name).has_value());
  }
  for (const std::string_view name : {"", "SUM", "su", "summ", "and", "int32"}) {
    CAPTURE(name);
    CHECK(!parse_operator(name).has_value());
  }
}

TEST_CASE("operators are defined for the types that MPI allows") {
  for (int t = 0; t < kDataTypeCount; ++t) {
    const auto type = static_cast<DataType>(t);
    for (const Operator op : {Operator::sum, Operator::prod, Operator::min, Operator::max}) {
      CHECK(is_defined_for(op, type));
    }
    for (const Operator op : {Operator::logical_and, Operator::logical_or, Operator::logical_xor,
                              Operator::bit_and, Operator::bit_or, Operator::bit_xor}) {
      CHECK(is_defined_for(op, type) == !is_floating_point(type));
    }
  }
}

}  // namespace types_test
}  // namespace hycoll
