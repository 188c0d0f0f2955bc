#ifndef HYCOLL_TOOLS_COMMAND_LINE_JSON_H_
#define HYCOLL_TOOLS_COMMAND_LINE_JSON_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hycoll::command {

/// Keys keep the order in which they are written.
using Json = nlohmann::ordered_json;

// Reading and writing, compiled once: each costs more than most files that use it.

/// Throws Json::parse_error.
Json parse_json(std::string_view text);

/// On one line.
std::string json_text(const Json& json);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_LINE_JSON_H_
