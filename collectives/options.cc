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

Options::Layout parse_layout(std::string_view name) {
  if (name == "per_node") return Options::Layout::per_node;
  if (name == "processes") return Options::Layout::processes;
  throw Error(
      ErrorKind::invalid_argument,
      fmt::format("HYCOLL_LAYOUT='{}': expected per_node or processes; correct or unset it", name));
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
  if (const char* layout = std::getenv("HYCOLL_LAYOUT")) options.layout = parse_layout(layout);
  if (const auto kib = read_number("HYCOLL_STAGING_KIB", 1'048'576)) options.staging_kib = *kib;
  if (const auto kib = read_number("HYCOLL_SINGLE_COPY_KIB", 1'000'000'000)) {
    options.single_copy_kib = *kib;
  }
  if (const auto nodes = read_number("HYCOLL_EMULATE_NODES", 1'000'000)) {
    options.emulated_nodes = *nodes;
  }
  return options;
}

}  // namespace hycoll
