#include "core/base/machine_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/errors.h"
#include "core/base/json_file.h"
#include "core/base/price_text.h"
#include "core/base/text_file.h"

namespace hycoll {
namespace {

using Json = nlohmann::ordered_json;

constexpr JsonFileKind kMachineFile{
    .name = "machine file", .key = kMachineKey, .version = kMachineFileVersion};

constexpr std::array kTopLevelKeys = {kMachineKey, kPricesKey, kAboutKey, kMeasuredKey};

}  // namespace

MachinePrices read_machine_prices(std::string_view text, const std::string& file) {
  const Json document = read_json_file(text, file, kMachineFile);
  for (const auto& [key, value] : document.items()) {
    if (std::ranges::find(kTopLevelKeys, key) == kTopLevelKeys.end()) {
      fail_in_json(file, fmt::format("key '{}' is not known; expected some of {}", key,
                                     fmt::join(kTopLevelKeys, ", ")));
    }
    if (key != kMachineKey && !value.is_object()) {
      fail_in_json(file, fmt::format("{} is {}; expected an object", key, json_shown(value)));
    }
  }
  const auto prices = document.find(kPricesKey);
  if (prices == document.end()) {
    fail_in_json(file, fmt::format("{} is missing; expected \"{}\": {{\"alpha\": \"1.5us\", ...}}",
                                   kPricesKey, kPricesKey));
  }
  MachinePrices result;
  const std::string place = fmt::format("{}: {}", file, kPricesKey);
  for (const auto& [key, value] : prices->items()) {
    if (!value.is_string()) {
      fail_in_json(place, fmt::format("{} is {}; expected a text with a unit, such as \"1.5us\" or "
                                      "\"12.5GB/s\"",
                                      key, json_shown(value)));
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
