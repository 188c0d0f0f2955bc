#include "core/base/types.h"

#include <algorithm>
#include <array>

namespace hycoll {
namespace {

constexpr std::array<std::string_view, kDataTypeCount> kDataTypeNames = {
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double"};
constexpr std::array<std::string_view, kOperatorCount> kOperatorNames = {
    "sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor"};

template <class Enum, std::size_t Size>
std::optional<Enum> find_name(const std::array<std::string_view, Size>& names,
                              std::string_view name) noexcept {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view name_of(DataType type) noexcept {
  return kDataTypeNames[static_cast<std::size_t>(type)];
}
std::string_view name_of(Operator op) noexcept {
  return kOperatorNames[static_cast<std::size_t>(op)];
}

std::optional<DataType> parse_data_type(std::string_view name) noexcept {
  return find_name<DataType>(kDataTypeNames, name);
}

std::optional<Operator> parse_operator(std::string_view name) noexcept {
  return find_name<Operator>(kOperatorNames, name);
}

}  // namespace hycoll
