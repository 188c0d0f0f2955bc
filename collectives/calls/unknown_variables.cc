#include "collectives/calls/unknown_variables.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>

namespace hycoll {
namespace {

constexpr std::string_view kPrefix = "HYCOLL_";

/// What clusters' module files say of where a package lies.
constexpr std::array<std::string_view, 12> kOfModules = {"BASE",   "BIN",     "DIR", "HOME",
                                                         "INC",    "INCLUDE", "LIB", "PATH",
                                                         "PREFIX", "ROOT",    "VER", "VERSION"};

/// How many letters must be changed, added or taken away to make one word of the other.
std::size_t edits_between(std::string_view one, std::string_view other) {
  std::vector<std::size_t> edits(other.size() + 1);  // from the first i letters of `one`
  std::iota(edits.begin(), edits.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = std::exchange(edits[0], i + 1);
    for (std::size_t k = 0; k < other.size(); ++k) {
      const std::size_t changed = diagonal + (one[i] == other[k] ? 0 : 1);
      diagonal = edits[k + 1];
      edits[k + 1] = std::min({changed, diagonal + 1, edits[k] + 1});
    }
  }
  return edits.back();
}

bool is_known(std::string_view variable) {
  const std::string_view name = variable.substr(kPrefix.size());
  return name.starts_with("TEST_") || std::ranges::find(kOfModules, name) != kOfModules.end() ||
         std::ranges::any_of(all_settings(),
                             [&](const Setting& setting) { return variable == setting.variable; });
}

}  // namespace

const Setting* nearest_setting(std::string_view variable) {
  constexpr std::size_t kMostEdits = 2;
  const Setting* nearest = nullptr;
  std::size_t fewest = kMostEdits + 1;
  for (const Setting& setting : all_settings()) {
    const std::size_t edits = edits_between(variable, setting.variable);
    if (edits < fewest) {
      fewest = edits;
      nearest = &setting;
    }
  }
  return nearest;
}

std::vector<std::string> unknown_variables() {
  std::vector<std::string> unknown;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view variable = text.substr(0, text.find('='));
    if (variable.starts_with(kPrefix) && !is_known(variable)) unknown.emplace_back(variable);
  }
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

std::string unknown_variable_text(const std::string& variable) {
  const Setting* const nearest = nearest_setting(variable);
  return fmt::format("hycoll: the variable {} is no setting, and changes nothing{}", variable,
                     nearest == nullptr ? std::string("; hycoll info --settings names all settings")
                                        : fmt::format("; did you mean {}?", nearest->variable));
}

}  // namespace hycoll
