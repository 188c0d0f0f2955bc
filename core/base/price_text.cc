#include "core/base/price_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "core/base/errors.h"

namespace hycoll {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kTimes = {Unit{"us", 1}, Unit{"ns", 1e-3}, Unit{"ms", 1e3}, Unit{"s", 1e6}};
constexpr std::array kRates = {Unit{"GB/s", 1}, Unit{"MB/s", 1e-3}};

struct Key {
  std::string_view name;
  double MachinePrices::*field;
  std::span<const Unit> units;
  std::string_view expected;
};

constexpr std::string_view kExpectedTime = "a time such as 1.5us";
constexpr std::string_view kExpectedRate = "a rate such as 12.5GB/s, or unlimited";
constexpr std::string_view kUnlimited = "unlimited";
/// Beyond these a price is a mistake, and sums of many of them would leave the range of numbers.
constexpr double kMostUs = 1e9;
constexpr double kLeastGbPerS = 1e-6;

constexpr std::array kKeys = {
    Key{"alpha", &MachinePrices::alpha_us, kTimes, kExpectedTime},
    Key{"bandwidth", &MachinePrices::bandwidth_gb_per_s, kRates, kExpectedRate},
    Key{"endpoint", &MachinePrices::endpoint_gb_per_s, kRates, kExpectedRate},
    Key{"reduce", &MachinePrices::reduce_gb_per_s, kRates, kExpectedRate},
    Key{"message", &MachinePrices::message_us, kTimes, kExpectedTime},
    Key{"copy", &MachinePrices::copy_gb_per_s, kRates, kExpectedRate},
    Key{"memory", &MachinePrices::memory_gb_per_s, kRates, kExpectedRate},
    Key{"wait", &MachinePrices::wait_us, kTimes, kExpectedTime},
    Key{"gap", &MachinePrices::gap_us, kTimes, kExpectedTime},
};

std::string key_names() {
  std::string names;
  for (const Key& key : kKeys) names += fmt::format("{}{}", names.empty() ? "" : ", ", key.name);
  return names;
}

const Key& key_named(std::string_view argument, std::string_view name) {
  const auto* const key = std::ranges::find(kKeys, name, &Key::name);
  if (key != kKeys.end()) return *key;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{}: there is no price '{}'. Give some of {}, as in "
                          "alpha=1.5us,bandwidth=12.5GB/s",
                          argument, name, key_names()));
}

/// The number in front of its unit; throws if there is none, or it cannot be a price: times may be
/// 0, rates not.
double parse_value(std::string_view argument, const Key& key, std::string_view value) {
  const bool is_rate = key.expected == kExpectedRate;
  if (is_rate && value == kUnlimited) return std::numeric_limits<double>::infinity();
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const std::string_view rest = value.substr(static_cast<std::size_t>(end - value.data()));
  const auto unit = std::ranges::find(key.units, rest, &Unit::name);
  const bool is_price = error == std::errc{} && std::isfinite(number) &&
                        (is_rate ? number > 0 : number >= 0) && unit != key.units.end();
  if (!is_price) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: {}='{}' is no {}. Give {}", argument, key.name, value,
                            is_rate ? "rate above 0 in GB/s or MB/s" : "time in ns, us, ms or s",
                            key.expected));
  }
  const double price = number * unit->factor;
  if (is_rate ? price >= kLeastGbPerS : price <= kMostUs) return price;
  throw Error(
      ErrorKind::invalid_argument,
      fmt::format("{}: {}='{}' is {}. Give {}", argument, key.name, value,
                  is_rate ? "less than a kilobyte a second" : "more than 1000 s", key.expected));
}

}  // namespace

void set_price(MachinePrices& prices, std::string_view argument, std::string_view key,
               std::string_view value) {
  const Key& known = key_named(argument, key);
  prices.*known.field = parse_value(argument, known, value);
}

MachinePrices parse_prices(std::string_view argument, std::string_view text,
                           const MachinePrices& base) {
  MachinePrices prices = base;
  if (text == "default") return prices;
  std::set<std::string_view> given;
  std::string_view rest = text;
  do {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view key = part.substr(0, equals);
    if (!given.insert(key).second) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{} '{}': {} is given twice. Give it once", argument, text, key));
    }
    set_price(prices, argument, key, part.substr(std::min(equals + 1, part.size())));
  } while (!rest.empty());
  return prices;
}

double parse_time_us(std::string_view argument, std::string_view name, std::string_view value) {
  return parse_value(argument, {name, nullptr, kTimes, kExpectedTime}, value);
}

double parse_rate_gb_per_s(std::string_view argument, std::string_view name,
                           std::string_view value) {
  return parse_value(argument, {name, nullptr, kRates, kExpectedRate}, value);
}

std::vector<PriceText> price_texts(const MachinePrices& prices) {
  std::vector<PriceText> texts;
  for (const Key& key : kKeys) {
    const double value = prices.*key.field;
    texts.push_back({std::string(key.name),
                     std::isinf(value) ? std::string(kUnlimited)
                                       : fmt::format("{:g}{}", value, key.units.front().name)});
  }
  return texts;
}

std::string to_text(const MachinePrices& prices) {
  std::string text;
  for (const auto& [key, value] : price_texts(prices)) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  }
  return text;
}

std::string price_keys() { return to_text(MachinePrices{}); }

}  // namespace hycoll
