#include "tools/command/line/arguments.h"

#include <fmt/format.h>

#include <charconv>

#include "core/base/errors.h"

namespace hycoll::command {
namespace {

/// The names of the first `count` values of an enumeration.
template <class Enumeration>
std::string names(int count) {
  std::string text;
  for (int value = 0; value < count; ++value) {
    text += fmt::format("{}{}", value == 0 ? "" : ", ", name_of(static_cast<Enumeration>(value)));
  }
  return text;
}

}  // namespace

Check between(int minimum, int maximum) {
  return [minimum, maximum](const std::string& text) -> std::string {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && value >= minimum && value <= maximum) return "";
    return fmt::format("'{}' is not possible here. Give a whole number from {} to {}", text,
                       minimum, maximum);
  };
}

DataType data_type_argument(const std::string& argument, const std::string& name) {
  if (const auto type = parse_data_type(name)) return *type;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} '{}' is no element type. Give one of {}", argument, name,
                          names<DataType>(kDataTypeCount)));
}

Operator operator_argument(const std::string& argument, const std::string& name) {
  if (const auto op = parse_operator(name)) return *op;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} '{}' is no operator. Give one of {}", argument, name,
                          names<Operator>(kOperatorCount)));
}

Visibility visibility_argument(const std::string& argument, const std::string& name) {
  if (name == "direct") return Visibility::direct;
  if (name == "staged") return Visibility::staged;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} '{}' is no visibility. Give one of direct, staged", argument, name));
}

void check_operator(Operator op, DataType type) {
  if (is_defined_for(op, type)) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("--op '{}' is not defined for --type '{}'. Give an integer type, or one "
                          "of sum, prod, min, max",
                          name_of(op), name_of(type)));
}

void check_root(int root, int member_count) {
  if (root >= 0 && root < member_count) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("--root '{}' is no member: there are {} of them here. Give 0 to {}", root,
                          member_count, member_count - 1));
}

void check_size_fits(std::size_t size_bytes, const std::string& argument, DataType type) {
  if (size_bytes % size_of(type) == 0) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} '{}' is no whole number of {} elements. Give multiples of {}, or "
                          "another --type",
                          argument, size_bytes, name_of(type), size_of(type)));
}

}  // namespace hycoll::command
