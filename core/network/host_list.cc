#include "core/network/host_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "core/base/errors.h"

namespace hycoll {
namespace {

constexpr std::size_t kMostDigits = 9;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_name_character(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7f &&
         std::string_view(",[]{}\"'=#\\").find(c) == std::string::npos;
}

/// A part of a name: text, or what stands in brackets, one after the other.
using Alternatives = std::vector<std::string>;

class HostListReader {
 public:
  HostListReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  std::vector<std::string> read() {
    std::vector<std::string> names;
    for (;;) {
      add_names(names);
      if (at_ == text_.size()) return names;
      ++at_;  // the comma
    }
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: host list '{}': {}; expected names such as n[1-3,7],m01", where_,
                            text_, problem));
  }

  bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }

  /// The names up to the next comma outside of brackets.
  void add_names(std::vector<std::string>& names) {
    std::vector<std::string> begun = {""};
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_at(',')) {
      begun = continued(begun, is_at('[') ? read_brackets() : Alternatives{read_plain()},
                        kMostNames - names.size());
    }
    if (at_ == begin) fail("a name is empty");
    std::ranges::move(begun, std::back_inserter(names));
  }

  /// Every beginning with every alternative behind it.
  std::vector<std::string> continued(const std::vector<std::string>& begun,
                                     const Alternatives& alternatives, std::size_t most) const {
    if (begun.size() * alternatives.size() > most) {
      fail(fmt::format("it has more than {} names", kMostNames));
    }
    std::vector<std::string> names;
    names.reserve(begun.size() * alternatives.size());
    for (const std::string& beginning : begun) {
      for (const std::string& rest : alternatives) names.push_back(beginning + rest);
    }
    return names;
  }

  std::string read_plain() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    if (at_ < text_.size() && !is_at(',') && !is_at('[')) {
      fail(fmt::format("'{}' cannot stand in a name", text_[at_]));
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  /// What brackets hold, which are at the reader's place.
  Alternatives read_brackets() {
    const std::size_t end = text_.find(']', at_);
    if (end == std::string_view::npos) fail("a bracket is not closed");
    Alternatives numbers;
    do {
      ++at_;
      add_range(numbers);
    } while (is_at(','));
    if (at_ != end) fail("brackets hold numbers and ranges only");
    ++at_;
    return numbers;
  }

  void add_range(Alternatives& numbers) {
    const std::string_view first = read_digits();
    std::string_view last = first;
    if (is_at('-')) {
      ++at_;
      last = read_digits();
    }
    const std::size_t begin = value_of(first);
    const std::size_t end = value_of(last);
    if (end < begin) fail(fmt::format("range {}-{} descends", first, last));
    if (end - begin >= kMostNames - numbers.size()) {
      fail(fmt::format("it has more than {} names", kMostNames));
    }
    for (std::size_t number = begin; number <= end; ++number) {
      numbers.push_back(fmt::format("{:0{}}", number, first.size()));
    }
  }

  std::string_view read_digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    const std::string_view digits = text_.substr(begin, at_ - begin);
    if (digits.empty()) fail("a number is missing in brackets");
    if (digits.size() > kMostDigits) {
      fail(fmt::format("number {} has more than {} digits", digits, kMostDigits));
    }
    return digits;
  }

  static std::size_t value_of(std::string_view digits) {
    std::size_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
};

/// The digits at the beginning, without leading zeros.
std::string_view number_at(std::string_view text) noexcept {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  text = text.substr(0, end);
  text.remove_prefix(std::min(text.find_first_not_of('0'), end));
  return text;
}

std::size_t digits_at(std::string_view text) noexcept {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

}  // namespace

std::vector<std::string> expand_host_list(std::string_view text, const std::string& where) {
  return HostListReader(text, where).read();
}

bool is_network_name(std::string_view name) noexcept {
  return !name.empty() && std::ranges::all_of(name, is_name_character);
}

bool is_before_as_host(std::string_view a, std::string_view b) noexcept {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (!is_digit(a.front()) || !is_digit(b.front())) {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
      continue;
    }
    const std::string_view number_a = number_at(a);
    const std::string_view number_b = number_at(b);
    if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
    if (number_a != number_b) return number_a < number_b;
    a.remove_prefix(digits_at(a));
    b.remove_prefix(digits_at(b));
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // they differ by leading zeros at most
}

}  // namespace hycoll
