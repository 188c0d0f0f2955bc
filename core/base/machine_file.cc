#include "core/base/machine_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/base/errors.h"
#include "core/base/price_text.h"
#include "core/base/text_file.h"

namespace hycoll {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kTopLevelKeys = {kMachineKey, kPricesKey, kAboutKey, kMeasuredKey};

[[noreturn]] void fail(const std::string& place, std::string_view problem) {
  throw Error(ErrorKind::invalid_argument, fmt::format("{}: {}", place, problem));
}

/// Of what stands in a file, for messages.
std::string shown(const Json& value) {
  constexpr std::size_t kMost = 60;
  // Which may be nested deeper than the stack is long.
  if (value.is_structured()) return value.is_object() ? "an object" : "an array";
  std::string text = value.dump();
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

/// Refuses keys that stand twice, of which JSON's readers would take one.
Json parsed(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> keys;
  const auto look = [&](int /*depth*/, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value).second) {
      fail(file, fmt::format("{} stands twice in an object; expected each key once", shown(value)));
    }
    return true;
  };
  try {
    return Json::parse(text, look);
  } catch (const Json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    // "[json.exception...] parse error at line 1, column 2: syntax error ..."
    const std::string_view what = error.what();
    fail(fmt::format("{}:{}", file, 1 + std::count(text.begin(), end, '\n')),
         fmt::format("{}; expected a machine file, which is JSON",
                     what.substr(std::min(what.find(": ") + 2, what.size()))));
  } catch (const Json::exception& error) {
    fail(file, fmt::format("{}; expected a machine file, which is JSON", error.what()));
  }
}

void check_version(const Json& document, const std::string& file) {
  const auto version = document.find(kMachineKey);
  const std::string expected = fmt::format("expected \"{}\": {}", kMachineKey, kMachineFileVersion);
  if (version == document.end()) {
    fail(file, fmt::format("this is no machine file; {}", expected));
  }
  if (*version != kMachineFileVersion) {
    fail(file, fmt::format("{} is {}, a version that this hycoll does not know; {}", kMachineKey,
                           shown(*version), expected));
  }
}

}  // namespace

MachinePrices read_machine_prices(std::string_view text, const std::string& file) {
  const Json document = parsed(text, file);
  if (!document.is_object()) {
    fail(file, fmt::format("it holds {}; expected an object, {{\"{}\": {}, ...}}", shown(document),
                           kMachineKey, kMachineFileVersion));
  }
  check_version(document, file);
  for (const auto& [key, value] : document.items()) {
    if (std::ranges::find(kTopLevelKeys, key) == kTopLevelKeys.end()) {
      fail(file, fmt::format("key '{}' is not known; expected some of {}", key,
                             fmt::join(kTopLevelKeys, ", ")));
    }
    if (key != kMachineKey && !value.is_object()) {
      fail(file, fmt::format("{} is {}; expected an object", key, shown(value)));
    }
  }
  const auto prices = document.find(kPricesKey);
  if (prices == document.end()) {
    fail(file, fmt::format("{} is missing; expected \"{}\": {{\"alpha\": \"1.5us\", ...}}",
                           kPricesKey, kPricesKey));
  }
  MachinePrices result;
  const std::string place = fmt::format("{}: {}", file, kPricesKey);
  for (const auto& [key, value] : prices->items()) {
    if (!value.is_string()) {
      fail(place, fmt::format("{} is {}; expected a text with a unit, such as \"1.5us\" or "
                              "\"12.5GB/s\"",
                              key, shown(value)));
    }
    set_price(result, place, key, value.get_ref<const std::string&>());
  }
  return result;
}

MachinePrices read_machine_file(const std::string& argument, const std::string& path) {
  return read_machine_prices(
      read_text_file(argument, path, "a machine's prices, as hycoll calibrate --output writes it"),
      path);
}

}  // namespace hycoll
