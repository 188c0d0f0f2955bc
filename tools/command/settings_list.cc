#include "tools/command/settings_list.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <regex>
#include <string_view>

#include "collectives/calls/settings.h"
#include "collectives/calls/unknown_variables.h"

namespace hycoll::command {
namespace {

/// What the environment says.
std::optional<std::string> value_of(const Setting& setting) {
  const char* const value = std::getenv(setting.variable);
  if (value == nullptr) return std::nullopt;
  return value;
}

/// Markdown for the terminal: a link is its words and its file.
std::string plain(std::string_view markdown) {
  static const std::regex link(R"(\[([^\]]*)\]\(([^)]*)\))");
  std::string text = std::regex_replace(std::string(markdown), link, "$1: docs/$2");
  std::erase(text, '`');
  return text;
}

std::string text_of(const Setting& setting) {
  const std::optional<std::string> value = value_of(setting);
  const std::string field =
      setting.field.empty() ? std::string() : fmt::format(", field {}", setting.field);
  return fmt::format(
      "  {}{}\n"
      "      {}\n"
      "      values:  {}\n"
      "      default: {}\n"
      "      where:   {}{}\n",
      setting.variable, value ? "=" + *value : ", not set", plain(setting.effect),
      plain(setting.values), plain(setting.otherwise), setting.readers, field);
}

Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

Json record_of(const Setting& setting) {
  const std::optional<std::string> value = value_of(setting);
  return {{"variable", setting.variable},    {"value", value ? Json(*value) : Json()},
          {"default", setting.otherwise},    {"values", setting.values},
          {"effect", setting.effect},        {"for_whom", text_or_null(setting.for_whom)},
          {"where", setting.readers},        {"field", text_or_null(setting.field)},
          {"group", title_of(setting.group)}};
}

}  // namespace

std::string settings_text() {
  std::string text;
  const Setting* before = nullptr;
  for (const Setting& setting : all_settings()) {
    if (before == nullptr || before->group != setting.group) {
      text += fmt::format("{}{}\n", before == nullptr ? "" : "\n", title_of(setting.group));
    }
    text += text_of(setting);
    before = &setting;
  }
  text +=
      "\nwhere: L in the library, P in the preload library, H in the heap library, B in scripts "
      "that build; field: of hycoll::Options\n";
  for (const std::string& variable : unknown_variables()) {
    text += unknown_variable_text(variable) + '\n';
  }
  return text;
}

Report settings_report() {
  Report report{.context = {{"command", "info"}, {"unknown", unknown_variables()}}, .records = {}};
  for (const Setting& setting : all_settings()) report.records.push_back(record_of(setting));
  return report;
}

}  // namespace hycoll::command
