#ifndef HYCOLL_COLLECTIVES_CALLS_SETTINGS_H_
#define HYCOLL_COLLECTIVES_CALLS_SETTINGS_H_

#include <span>
#include <string_view>

#include "collectives/api/hycoll.h"

namespace hycoll {

/// An environment variable that hycoll reads: a row of docs/settings.md, whose tables are made from
/// these. The texts are Markdown.
struct Setting {
  enum class Group { needed, tuning, tests };

  Group group;
  const char* variable;
  std::string_view field = {};  ///< The field of Options that it sets; "" if none.
  std::string_view otherwise;   ///< What holds where it is not set.
  std::string_view values;      ///< What it may be; all names, in the order of their enumerators.
  std::string_view effect;
  std::string_view for_whom = {};  ///< Who needs it; "" outside Group::tuning.
  /// L: the library, P: the preload library, H: the heap library, B: scripts that build.
  std::string_view readers;

  /// Sets the field from the variable's text. Throws Error when that cannot be read. Null: not read
  /// by Options::from_environment.
  void (*read)(const Setting& setting, std::string_view text, Options& options) = nullptr;
};

/// All settings, in the order of docs/settings.md.
std::span<const Setting> all_settings() noexcept;

/// The heading of the group in docs/settings.md.
std::string_view title_of(Setting::Group group) noexcept;

/// A whole number. Throws Error, which names the variable, for any other text.
int parse_whole_number(const char* variable, std::string_view text, int least, int most);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_SETTINGS_H_
