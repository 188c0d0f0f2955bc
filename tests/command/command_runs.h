#ifndef HYCOLL_TESTS_COMMAND_COMMAND_RUNS_H_
#define HYCOLL_TESTS_COMMAND_COMMAND_RUNS_H_

// Runs of the hycoll command, which HYCOLL_COMMAND names, and what they must have written.

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tools/command/line/output.h"
#include "tools/command/measuring/child.h"

namespace hycoll::command {

using Arguments = std::vector<std::string>;

inline ChildResult hycoll(Arguments arguments) {
  const char* path = std::getenv("HYCOLL_COMMAND");
  REQUIRE(path != nullptr);
  arguments.insert(arguments.begin(), std::filesystem::absolute(path).string());
  ChildResult result = run_child(arguments, std::chrono::seconds(240));
  INFO(result.errors);
  CHECK(result.end == ChildResult::End::exited);
  return result;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Bad arguments: status 2, nothing on the standard output, and every part in the message, once.
inline void check_refused(const Arguments& arguments, const std::vector<std::string>& parts) {
  CAPTURE(arguments);
  const ChildResult result = hycoll(arguments);
  CHECK(result.status == 2);
  CHECK(result.output == "");
  for (const std::string& part : parts) {
    CAPTURE(part);
    CAPTURE(result.errors);
    CHECK(contains(result.errors, part));
  }
}

inline Json json_of(const Arguments& arguments) {
  const ChildResult result = hycoll(arguments);
  CAPTURE(arguments);
  CAPTURE(result.errors);
  CHECK(result.status == 0);
  const Json document = Json::parse(result.output, nullptr, false);
  REQUIRE_FALSE(document.is_discarded());
  REQUIRE(document.at("context").is_object());
  REQUIRE(document.at("records").is_array());
  return document;
}

inline void check_benchmark_record(const Json& record) {
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

inline std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace hycoll::command

#endif  // HYCOLL_TESTS_COMMAND_COMMAND_RUNS_H_
