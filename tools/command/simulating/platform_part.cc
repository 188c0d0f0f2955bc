#include "tools/command/simulating/platform_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/errors.h"
#include "core/base/price_text.h"
#include "core/network/text_lines.h"
#include "tools/command/line/command_line.h"

namespace hycoll::command {
namespace {

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

}  // namespace

PlatformPart::PlatformPart(std::string_view text, std::string where) : where_(std::move(where)) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  kind_ = without_comment(text.substr(0, colon));
  rest_ = without_comment(text.substr(std::min(colon + 1, text.size())));
  if (kind_ == "name") return;
  for (const std::string& part : split(rest_, ',')) {
    const std::string_view content = without_comment(part);
    if (content.empty()) continue;
    const std::size_t equals = content.find('=');
    const bool is_bare = equals == std::string_view::npos;
    PlatformValue value{
        .key = is_bare ? "" : std::string(without_comment(content.substr(0, equals))),
        .text = std::string(is_bare ? content : without_comment(content.substr(equals + 1)))};
    if (!is_bare && value.key.empty()) {
      fail(fmt::format("'{}' has no key. Give KEY=VALUE", content));
    }
    add(std::move(value));
  }
}

void PlatformPart::add(PlatformValue value) {
  if (std::ranges::find(values_, value.key, &PlatformValue::key) != values_.end()) {
    fail(value.key.empty()
             ? fmt::format("'{}' is a second value without a key. Give KEY=VALUE", value.text)
             : fmt::format("{} is given twice. Give it once", value.key));
  }
  values_.push_back(std::move(value));
}

void PlatformPart::add(const PlatformPart& part) {
  where_ = part.where_;
  for (const PlatformValue& value : part.values_) add(value);
}

void PlatformPart::fail(const std::string& problem) const {
  throw Error(ErrorKind::invalid_argument, fmt::format("{}: {}", title(), problem));
}

const PlatformValue* PlatformPart::take(std::string_view key) {
  taken_keys_.emplace_back(key);
  const auto found = std::ranges::find(values_, key, &PlatformValue::key);
  if (found == values_.end()) return nullptr;
  taken_ = std::move(*found);
  values_.erase(found);
  return &taken_;
}

int PlatformPart::take_number(std::string_view key, int usual, int minimum, int maximum) {
  const PlatformValue* value = take(key);
  return value == nullptr ? usual : number(*value, minimum, maximum);
}

double PlatformPart::take_rate(std::string_view key, double usual_gb_per_s) {
  const PlatformValue* value = take(key);
  if (value == nullptr) return usual_gb_per_s;
  const double rate = parse_rate_gb_per_s(title(), key, value->text);
  if (std::isinf(rate)) fail(fmt::format("{} is unlimited; expected a rate in GB/s or MB/s", key));
  return rate;
}

double PlatformPart::take_time(std::string_view key, double usual_us) {
  const PlatformValue* value = take(key);
  return value == nullptr ? usual_us : parse_time_us(title(), key, value->text);
}

double PlatformPart::take_ratio(std::string_view key, double usual) {
  const PlatformValue* value = take(key);
  if (value == nullptr) return usual;
  const std::optional<double> ratio = number_of<double>(value->text);
  if (!ratio || !std::isfinite(*ratio) || *ratio < 1) {
    fail(fmt::format("{}='{}'; expected a number from 1 on, such as 2 or 1.25", key, value->text));
  }
  return *ratio;
}

std::string PlatformPart::take_bare() {
  const PlatformValue* value = take("");
  return value == nullptr ? "" : value->text;
}

std::vector<int> PlatformPart::take_sizes(std::string_view expected, int most) {
  const std::string text = take_bare();
  std::vector<int> sizes;
  double product = 1;
  for (const std::string& part : split(text, 'x')) {
    const std::optional<int> size = number_of<int>(part);
    if (!size || *size < 1) {
      fail(fmt::format("'{}'; expected numbers from 1 on, such as {}", text, expected));
    }
    sizes.push_back(*size);
    product *= *size;
  }
  if (product > most) {
    fail(fmt::format("'{}' makes {:.0f} hosts; expected {} at most", text, product, most));
  }
  return sizes;
}

std::vector<PlatformValue> PlatformPart::take_all() { return std::exchange(values_, {}); }

int PlatformPart::number(const PlatformValue& value, int minimum, int maximum) const {
  const std::optional<int> number = number_of<int>(value.text);
  if (!number || *number < minimum || *number > maximum) {
    fail(fmt::format("{}='{}'; expected a whole number from {} to {}", value.key, value.text,
                     minimum, maximum));
  }
  return *number;
}

void PlatformPart::check_all_used() const {
  if (values_.empty()) return;
  const PlatformValue& value = values_.front();
  std::string keys;
  for (const std::string& key : taken_keys_) {
    if (!key.empty()) keys += fmt::format("{}{}", keys.empty() ? "" : ", ", key);
  }
  if (value.key.empty()) {
    fail(fmt::format("'{}' has no key. Give KEY=VALUE, with some of {}", value.text, keys));
  }
  fail(fmt::format("there is no '{}'. Give some of {}", value.key, keys.empty() ? "none" : keys));
}

}  // namespace hycoll::command
