// The environment's word on Options.

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "collectives/hycoll.h"
#include "core/errors.h"

namespace hycoll {
namespace {

/// A non-negative whole number from the environment.
std::optional<int> read_number(const char* variable, int maximum) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stop != end || value < 0 || value > maximum) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}='{}': expected a whole number from 0 to {}; correct or unset it",
                            variable, text, maximum));
  }
  return value;
}

}  // namespace

Options Options::from_environment() {
  Options options;
  if (const auto workers = read_number("HYCOLL_WORKERS", 4096)) options.workers = *workers;
  if (const auto lanes = read_number("HYCOLL_LANES", 4096)) options.lanes = *lanes;
  if (const char* algorithm = std::getenv("HYCOLL_ALGORITHM")) options.algorithm = algorithm;
  if (const char* placement = std::getenv("HYCOLL_PLACEMENT")) options.placement = placement;
  if (const auto pin = read_number("HYCOLL_PIN", 1)) {
    options.pinning = *pin == 1 ? Pinning::pinned : Pinning::unpinned;
  }
  if (const auto timeout_s = read_number("HYCOLL_TIMEOUT_S", 1'000'000)) {
    options.timeout = std::chrono::seconds(*timeout_s);
  }
  if (const auto check = read_number("HYCOLL_CHECK", 1)) {
    options.checking = *check == 1 ? Checking::all_processes : Checking::process;
  }
  if (const auto reproducible = read_number("HYCOLL_REPRODUCIBLE", 1)) {
    options.bits = *reproducible == 1 ? Bits::reproducible : Bits::same_on_all_members;
  }
  if (const auto aggregators = read_number("HYCOLL_AGGREGATORS", 1'000'000)) {
    options.aggregators = *aggregators;
  }
  return options;
}

}  // namespace hycoll
