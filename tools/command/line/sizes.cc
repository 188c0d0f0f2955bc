#include "tools/command/line/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/base/errors.h"

namespace hycoll::command {
namespace {

constexpr std::string_view kSizesRemedy =
    "a range of powers of two such as 8:16Mi, a list such as 8,24,1Ki, or both";

struct Unit {
  std::string_view name;
  int shift;
};
constexpr Unit kUnits[] = {{"Gi", 30}, {"Mi", 20}, {"Ki", 10}, {"", 0}};

[[noreturn]] void fail(std::string_view argument, std::string_view text, std::string_view reason,
                       std::string_view expected) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} '{}': {}. Give {}", argument, text, reason, expected));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::size_t> size_of_text(std::string_view text) {
  if (text.ends_with('B')) text.remove_suffix(1);
  const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                 [&](const Unit& u) { return text.ends_with(u.name); });
  text.remove_suffix(unit->name.size());
  const std::optional<std::uint64_t> number = whole_number(text);
  const std::uint64_t maximum = std::numeric_limits<std::int64_t>::max() >> unit->shift;
  if (!number || *number > maximum) return std::nullopt;
  return static_cast<std::size_t>(*number << unit->shift);
}

std::size_t size_in_list(std::string_view argument, std::string_view list, std::string_view text) {
  const std::optional<std::size_t> size = size_of_text(text);
  if (!size) fail(argument, list, fmt::format("'{}' is no size", text), kSizesRemedy);
  return *size;
}

/// The sizes of one part of the list.
std::vector<std::size_t> sizes_of_part(std::string_view argument, std::string_view list,
                                       std::string_view part) {
  const std::vector<std::string_view> ends = split(part, ':');
  if (ends.size() == 1) return {size_in_list(argument, list, part)};
  if (ends.size() > 2) fail(argument, list, "a range has two ends", kSizesRemedy);
  const std::size_t first = size_in_list(argument, list, ends[0]);
  const std::size_t last = size_in_list(argument, list, ends[1]);
  if (first == 0) fail(argument, list, "no range starts at 0", "0 by itself, as in 0,8:16Mi");
  if (first > last) fail(argument, list, "the range's start exceeds its end", kSizesRemedy);
  std::vector<std::size_t> sizes;
  for (std::size_t size = first; size <= last; size *= 2) sizes.push_back(size);
  return sizes;
}

}  // namespace

std::size_t parse_size(std::string_view argument, std::string_view text) {
  const std::optional<std::size_t> size = size_of_text(text);
  if (!size) {
    fail(argument, text, "this is no size", "bytes as a whole number, or with Ki, Mi or Gi: 64Ki");
  }
  return *size;
}

std::vector<std::size_t> parse_sizes(std::string_view argument, std::string_view text) {
  std::vector<std::size_t> sizes;
  for (const std::string_view part : split(text, ',')) {
    for (const std::size_t size : sizes_of_part(argument, text, part)) {
      if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
    }
  }
  return sizes;
}

std::vector<int> parse_numbers(std::string_view argument, std::string_view text, int minimum,
                               int maximum) {
  const std::string expected =
      fmt::format("whole numbers from {} to {}: a range such as 1:8, a list such as 1,2,5, or both",
                  minimum, maximum);
  std::vector<int> numbers;
  for (const std::string_view part : split(text, ',')) {
    std::vector<int> ends;
    for (const std::string_view end : split(part, ':')) {
      const std::optional<std::uint64_t> number = whole_number(end);
      if (!number) fail(argument, text, fmt::format("'{}' is no whole number", end), expected);
      if (*number > static_cast<std::uint64_t>(maximum) || static_cast<int>(*number) < minimum) {
        fail(argument, text, fmt::format("{} is out of range", end), expected);
      }
      ends.push_back(static_cast<int>(*number));
    }
    if (ends.size() > 2) fail(argument, text, "a range has two ends", expected);
    if (ends.front() > ends.back()) {
      fail(argument, text, "the range's start exceeds its end", expected);
    }
    for (int number = ends.front(); number <= ends.back(); ++number) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::string short_size(std::size_t size_bytes) {
  for (const Unit& unit : kUnits) {
    const std::size_t unit_bytes = std::size_t{1} << unit.shift;
    if (size_bytes >= unit_bytes && size_bytes % unit_bytes == 0) {
      return fmt::format("{}{}", size_bytes >> unit.shift, unit.name);
    }
  }
  return "0";
}

}  // namespace hycoll::command
