#include "tools/command/line/json.h"

namespace hycoll::command {

Json parse_json(std::string_view text) { return Json::parse(text); }

std::string json_text(const Json& json) { return json.dump(); }

}  // namespace hycoll::command
