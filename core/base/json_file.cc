#include "core/base/json_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/base/errors.h"

namespace hycoll {

using Json = nlohmann::ordered_json;

void fail_in_json(const std::string& place, std::string_view problem) {
  throw Error(ErrorKind::invalid_argument, fmt::format("{}: {}", place, problem));
}

std::string json_shown(const Json& value) {
  constexpr std::size_t kMost = 60;
  // Which may be nested deeper than the stack is long.
  if (value.is_structured()) return value.is_object() ? "an object" : "an array";
  std::string text = value.dump();
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

namespace {

/// Refuses keys that stand twice, of which JSON's readers would take one.
Json parsed_json(std::string_view text, const std::string& file, const JsonFileKind& kind) {
  std::vector<std::set<std::string>> keys;
  const auto look = [&](int /*depth*/, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value).second) {
      fail_in_json(file, fmt::format("{} stands twice in an object; expected each key once",
                                     json_shown(value)));
    }
    return true;
  };
  try {
    return Json::parse(text, look);
  } catch (const Json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    // "[json.exception...] parse error at line 1, column 2: syntax error ..."
    const std::string_view what = error.what();
    fail_in_json(fmt::format("{}:{}", file, 1 + std::count(text.begin(), end, '\n')),
                 fmt::format("{}; expected a {}, which is JSON",
                             what.substr(std::min(what.find(": ") + 2, what.size())), kind.name));
  } catch (const Json::exception& error) {
    fail_in_json(file, fmt::format("{}; expected a {}, which is JSON", error.what(), kind.name));
  }
}

void check_version(const Json& document, const std::string& file, const JsonFileKind& kind) {
  const auto version = document.find(kind.key);
  const std::string expected = fmt::format("expected \"{}\": {}", kind.key, kind.version);
  if (version == document.end()) {
    fail_in_json(file, fmt::format("this is no {}; {}", kind.name, expected));
  }
  if (*version != kind.version) {
    fail_in_json(file, fmt::format("{} is {}, a version that this hycoll does not know; {}",
                                   kind.key, json_shown(*version), expected));
  }
}

}  // namespace

Json read_json_file(std::string_view text, const std::string& file, const JsonFileKind& kind) {
  Json document = parsed_json(text, file, kind);
  if (!document.is_object()) {
    fail_in_json(file, fmt::format("it holds {}; expected an object, {{\"{}\": {}, ...}}",
                                   json_shown(document), kind.key, kind.version));
  }
  check_version(document, file, kind);
  return document;
}

}  // namespace hycoll
