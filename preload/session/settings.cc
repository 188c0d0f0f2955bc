#include "preload/session/settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "collectives/calls/settings.h"
#include "collectives/selection/selection.h"
#include "core/base/errors.h"

namespace hycoll::preload {
namespace {

constexpr int kMaximumLeaders = 4096;

/// A whole number from the environment.
std::optional<int> read_number(const char* variable, int least, int most) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  return parse_whole_number(variable, text, least, most);
}

std::optional<int> leader_count() { return read_number("HYCOLL_LEADERS", 1, kMaximumLeaders); }

void set_layout(Settings& settings) {
  const std::optional<int> leaders = leader_count();
  settings.options.workers = leaders.value_or(1);
  const bool has_layout = std::getenv("HYCOLL_LAYOUT") != nullptr;
  if (has_layout || leaders) settings.layout = Settings::Layout::given;
  if (has_layout && settings.options.layout == Options::Layout::processes && leaders > 1) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("HYCOLL_LEADERS='{}', but with HYCOLL_LAYOUT='processes' every process "
                            "has one worker; unset one of them",
                            *leaders));
  }
}

}  // namespace

Settings Settings::from_environment() {
  Settings settings;
  if (const char* disabled = std::getenv("HYCOLL_DISABLE")) {
    settings.disabled = parse_routines("HYCOLL_DISABLE", disabled);
  }
  settings.report = requested_report();
  settings.options = Options::from_environment();
  const bool is_reproducible = settings.options.bits == Bits::reproducible;
  settings.attach_after = read_number("HYCOLL_ATTACH_AFTER", 0, 1'000'000'000);
  if (!settings.attach_after && is_reproducible) settings.attach_after = 0;
  set_layout(settings);
  settings.looks_for_devices = read_number("HYCOLL_DEVICE_MEMORY", 0, 1) != 0;
  settings.options.aggregators = 0;
  // As MPI libraries take them.
  if (settings.options.checking == Options::Checking::process) {
    settings.options.overlaps = Options::Overlaps::unspecified;
  }
  check_requested_algorithm(settings.options.algorithm);
  return settings;
}

std::string_view requested_report() noexcept {
  const char* const report = std::getenv("HYCOLL_REPORT");
  return report == nullptr || std::string_view(report) == "0" ? "" : report;
}

bool leaders_need_threads() noexcept {
  try {
    return leader_count().value_or(1) > 1;
  } catch (const Error&) {
    return false;  // from_environment reports it, once MPI can end the job
  }
}

std::string environment_text() {
  std::set<std::string_view> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("HYCOLL_")) variables.insert(text);
  }
  std::string all;
  for (const std::string_view variable : variables) {
    all += variable;
    all += '\n';
  }
  return all;
}

}  // namespace hycoll::preload
