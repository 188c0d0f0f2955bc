#include "collectives/c_interface/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "collectives/c_interface/guard.h"
#include "collectives/calls/settings.h"

namespace hycoll::c_interface {
namespace {

/// A field of hycoll_options, which is read as the variable of the same name is.
struct Field {
  const char* name;
  std::size_t offset;
  bool is_number;
  std::string_view variable;
};

#define HYCOLL_TEXT(field, variable) \
  Field { "options." #field, offsetof(hycoll_options, field), false, variable }
#define HYCOLL_NUMBER(field, variable) \
  Field { "options." #field, offsetof(hycoll_options, field), true, variable }
constexpr Field kFields[] = {
    HYCOLL_TEXT(layout, "HYCOLL_LAYOUT"),
    HYCOLL_TEXT(node, "HYCOLL_NODE"),
    HYCOLL_TEXT(algorithm, "HYCOLL_ALGORITHM"),
    HYCOLL_TEXT(placement, "HYCOLL_PLACEMENT"),
    HYCOLL_TEXT(transport, "HYCOLL_TRANSPORT"),
    HYCOLL_TEXT(puts, "HYCOLL_PUTS"),
    HYCOLL_TEXT(wait, "HYCOLL_WAIT"),
    HYCOLL_TEXT(groups, "HYCOLL_GROUPS"),
    HYCOLL_TEXT(latencies, "HYCOLL_LATENCIES"),
    HYCOLL_TEXT(topology, "HYCOLL_TOPOLOGY"),
    HYCOLL_TEXT(machine, "HYCOLL_MACHINE"),
    HYCOLL_NUMBER(workers, "HYCOLL_WORKERS"),
    HYCOLL_NUMBER(lanes, "HYCOLL_LANES"),
    HYCOLL_NUMBER(pinning, "HYCOLL_PIN"),
    HYCOLL_NUMBER(aggregators, "HYCOLL_AGGREGATORS"),
    HYCOLL_NUMBER(reproducible, "HYCOLL_REPRODUCIBLE"),
    HYCOLL_NUMBER(check, "HYCOLL_CHECK"),
    HYCOLL_NUMBER(warn_after_s, "HYCOLL_WARN_AFTER_S"),
    HYCOLL_NUMBER(timeout_s, "HYCOLL_TIMEOUT_S"),
    HYCOLL_NUMBER(staging_kib, "HYCOLL_STAGING_KIB"),
    HYCOLL_NUMBER(staging_limit_mib, "HYCOLL_STAGING_LIMIT"),
    HYCOLL_NUMBER(single_copy_kib, "HYCOLL_SINGLE_COPY_KIB"),
    HYCOLL_NUMBER(plan_cache_kib, "HYCOLL_PLAN_CACHE_KIB"),
    HYCOLL_NUMBER(exchange_kib, "HYCOLL_EXCHANGE_KIB"),
};
#undef HYCOLL_TEXT
#undef HYCOLL_NUMBER

// Fields are added at the end, and none goes: the first header's last one.
constexpr std::size_t kFirstSize = offsetof(hycoll_options, exchange_kib) + sizeof(int);

/// Empty: not set.
std::string text_of(const hycoll_options& options, const Field& field) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&options) + field.offset;
  if (field.is_number) {
    int number = 0;
    std::memcpy(&number, bytes, sizeof number);
    return number == HYCOLL_UNSET ? "" : std::to_string(number);
  }
  const char* text = nullptr;
  std::memcpy(&text, bytes, sizeof text);
  return text == nullptr ? "" : text;
}

const Setting& setting_named(std::string_view variable) {
  const auto settings = all_settings();
  return *std::ranges::find_if(settings, [&](const Setting& setting) {
    return setting.variable == variable && setting.read != nullptr;
  });
}

}  // namespace

Options options_of(const hycoll_options* options) {
  Options read = Options::from_environment();
  if (options == nullptr) return read;
  if (options->size < kFirstSize || options->size > sizeof(hycoll_options)) {
    throw ArgumentError(
        MPI_ERR_ARG,
        fmt::format(
            "options.size={}: expected {} to {}. Initialise options by HYCOLL_OPTIONS_INIT; "
            "if that is done, the program was compiled for a newer hycoll",
            options->size, kFirstSize, sizeof(hycoll_options)));
  }
  for (const Field& field : kFields) {
    if (field.offset >= options->size) continue;
    const std::string text = text_of(*options, field);
    if (text.empty()) continue;
    Setting setting = setting_named(field.variable);
    setting.variable = field.name;
    setting.read(setting, text, read);
  }
  return read;
}

}  // namespace hycoll::c_interface
