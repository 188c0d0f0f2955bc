// The environment's word on Options.

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "collectives/api/hycoll.h"
#include "collectives/processes/node_groups.h"
#include "core/base/errors.h"
#include "numa/latency/core_latencies.h"

namespace hycoll {
namespace {

int parse_number(const char* variable, std::string_view text, int maximum) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < 0 || value > maximum) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}='{}': expected a whole number from 0 to {}; correct or unset it",
                            variable, text, maximum));
  }
  return value;
}

/// A non-negative whole number from the environment.
std::optional<int> read_number(const char* variable, int maximum) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  return parse_number(variable, text, maximum);
}

Options::Layout parse_layout(std::string_view name) {
  if (name == "per_node") return Options::Layout::per_node;
  if (name == "processes") return Options::Layout::processes;
  throw Error(
      ErrorKind::invalid_argument,
      fmt::format("HYCOLL_LAYOUT='{}': expected per_node or processes; correct or unset it", name));
}

Options::NodeScope parse_node_scope(std::string_view name) {
  if (name == "machine") return Options::NodeScope::machine;
  if (name == "numa") return Options::NodeScope::numa_domain;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("HYCOLL_NODE='{}': expected machine or numa; correct or unset it", name));
}

Options::Transport parse_transport(std::string_view name) {
  if (name == "auto") return Options::Transport::automatic;
  if (name == "mpi") return Options::Transport::mpi;
  if (name == "ucx") return Options::Transport::ucx;
  throw Error(
      ErrorKind::invalid_argument,
      fmt::format("HYCOLL_TRANSPORT='{}': expected auto, mpi or ucx; correct or unset it", name));
}

Options::Puts parse_puts(std::string_view name) {
  if (name == "auto") return Options::Puts::automatic;
  if (name == "0") return Options::Puts::off;
  if (name == "1") return Options::Puts::on;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("HYCOLL_PUTS='{}': expected auto, 0 or 1; correct or unset it", name));
}

Options::Waiting parse_waiting(std::string_view name) {
  if (name == "auto") return Options::Waiting::automatic;
  if (name == "spin") return Options::Waiting::spin;
  if (name == "yield") return Options::Waiting::yield;
  if (name == "sleep") return Options::Waiting::sleep;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("HYCOLL_WAIT='{}': expected auto, spin, yield or sleep; correct or unset "
                          "it",
                          name));
}

/// "K" or "K:cyclic".
void read_emulated_nodes(Options& options) {
  constexpr const char* kVariable = "HYCOLL_EMULATE_NODES";
  constexpr std::string_view kCyclic = ":cyclic";
  const char* const value = std::getenv(kVariable);
  if (value == nullptr) return;
  std::string_view text = value;
  if (text.ends_with(kCyclic)) {
    text.remove_suffix(kCyclic.size());
    options.emulated_dealing = Options::EmulatedDealing::cyclic;
  }
  options.emulated_nodes = parse_number(kVariable, text, 1'000'000);
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
  if (const auto warn_after_s = read_number("HYCOLL_WARN_AFTER_S", 1'000'000)) {
    options.warn_after = std::chrono::seconds(*warn_after_s);
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
  if (const char* groups = std::getenv("HYCOLL_GROUPS")) {
    options.groups = groups;
    parse_groups(options.groups);
  }
  if (const char* latencies = std::getenv("HYCOLL_LATENCIES")) {
    options.latencies = latencies;
    parse_latency_request(options.latencies);
  }
  if (const char* layout = std::getenv("HYCOLL_LAYOUT")) options.layout = parse_layout(layout);
  if (const auto kib = read_number("HYCOLL_STAGING_KIB", 1'048'576)) options.staging_kib = *kib;
  if (const auto kib = read_number("HYCOLL_PLAN_CACHE_KIB", 1'000'000'000)) {
    options.plan_cache_kib = *kib;
  }
  if (const auto kib = read_number("HYCOLL_EXCHANGE_KIB", 1'000'000'000)) {
    options.exchange_kib = *kib;
  }
  if (const auto mib = read_number("HYCOLL_STAGING_LIMIT", 1'000'000'000)) {
    options.staging_limit_mib = *mib;
  }
  if (const auto kib = read_number("HYCOLL_SINGLE_COPY_KIB", 1'000'000'000)) {
    options.single_copy_kib = *kib;
  }
  if (const char* scope = std::getenv("HYCOLL_NODE")) options.node_scope = parse_node_scope(scope);
  read_emulated_nodes(options);
  if (const char* transport = std::getenv("HYCOLL_TRANSPORT")) {
    options.transport = parse_transport(transport);
  }
  if (const char* puts = std::getenv("HYCOLL_PUTS")) options.puts = parse_puts(puts);
  if (const char* waiting = std::getenv("HYCOLL_WAIT")) options.waiting = parse_waiting(waiting);
  return options;
}

}  // namespace hycoll
