#include "tests/command/command_runs.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace hycoll::command {

Words::Words(std::initializer_list<std::string_view> words) : strings(words.begin(), words.end()) {}
Words::Words(const Arguments& words) : strings(words) {}

ChildResult hycoll(const Words& arguments) {
  const char* path = std::getenv("HYCOLL_TEST_COMMAND");
  REQUIRE(path != nullptr);
  Arguments command = {std::filesystem::absolute(path).string()};
  command.insert(command.end(), arguments.strings.begin(), arguments.strings.end());
  ChildResult result = run_child(command, std::chrono::seconds(240));
  INFO(result.errors);
  CHECK(result.end == ChildResult::End::exited);
  return result;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

void check_refused(const Words& arguments, const Words& parts) {
  CAPTURE(arguments.strings);
  const ChildResult result = hycoll(arguments);
  CHECK(result.status == 2);
  CHECK(result.output == "");
  for (const std::string& part : parts.strings) {
    CAPTURE(part);
    CAPTURE(result.errors);
    CHECK(contains(result.errors, part));
  }
}

Json json_of(const Words& arguments) {
  const ChildResult result = hycoll(arguments);
  CAPTURE(arguments.strings);
  CAPTURE(result.errors);
  CHECK(result.status == 0);
  const Json document = parse_json(result.output);
  REQUIRE(document.at("context").is_object());
  REQUIRE(document.at("records").is_array());
  return document;
}

void check_benchmark_record(const Json& record) {
  for (const char* key :
       {"collective", "algorithm", "layout", "nodes", "members", "lanes", "bytes", "min_us",
        "median_us", "p95_us", "native_median_us", "ratio", "verified"}) {
    CAPTURE(key);
    CHECK(record.contains(key));
  }
  CHECK(record.at("verified") == true);
  CHECK(record.at("min_us") > 0);
  CHECK(record.at("min_us") <= record.at("median_us"));
  CHECK(record.at("median_us") <= record.at("p95_us"));
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace hycoll::command
