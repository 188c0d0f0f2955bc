#ifndef HYCOLL_CORE_BASE_JSON_FILE_H_
#define HYCOLL_CORE_BASE_JSON_FILE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hycoll {

/// A kind of files: JSON objects of which one key tells the version.
struct JsonFileKind {
  const char* name;  ///< For messages: "machine file".
  const char* key;
  int version;
};

/// The object that a file holds. Pure. Throws Error (invalid_argument), which names `file`, the
/// line or the key, the value and what was expected, unless it is of that kind and version, with no
/// key twice.
nlohmann::ordered_json read_json_file(std::string_view text, const std::string& file,
                                      const JsonFileKind& kind);

/// Throws that Error.
[[noreturn]] void fail_in_json(const std::string& place, std::string_view problem);

/// What stands in a file, for messages: short, whatever it is.
std::string json_shown(const nlohmann::ordered_json& value);

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_JSON_FILE_H_
