#include "tools/command/line/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/base/errors.h"
#include "tools/command/line/command_line.h"

namespace hycoll::command {
namespace {

std::string csv_value(const Json& value) {
  if (value.is_null()) return "";
  const std::string text = value.is_string() ? value.get<std::string>() : json_text(value);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::vector<std::string> keys_of(const std::vector<Json>& records) {
  std::vector<std::string> keys;
  for (const Json& record : records) {
    for (const auto& [key, value] : record.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

[[noreturn]] void fail(const std::string& argument, const std::string& path, const char* what) {
  throw Error(ErrorKind::environment,
              fmt::format("{} '{}': {} ({}). Name a file in a directory that exists and that you "
                          "may use",
                          argument, path, what, std::strerror(errno)));
}

}  // namespace

Json Report::to_json() const { return {{"context", context}, {"records", records}}; }

std::string to_csv(const Report& report) {
  const std::vector<std::string> keys = keys_of(report.records);
  std::string text = fmt::format("{}\n", fmt::join(keys, ","));
  for (const Json& record : report.records) {
    std::vector<std::string> values;
    for (const std::string& key : keys) {
      values.push_back(record.contains(key) ? csv_value(record[key]) : "");
    }
    text += fmt::format("{}\n", fmt::join(values, ","));
  }
  return text;
}

void OutputOptions::add_to(CommandLine& line) {
  add_file(line, "--csv", csv_path_, "Write the records as comma-separated values");
  add_file(line, "--json", json_path_, "Write context and records as JSON");
}

void OutputOptions::add_file(CommandLine& line, const std::string& option, std::string& path,
                             const std::string& help) {
  line.add_option(option, path, help + "; - is stdout").type_name("FILE");
  files_.push_back({option, &path});
}

void OutputOptions::check() const {
  std::vector<std::string> options;
  for (const File& file : files_) {
    if (*file.path == "-") options.push_back(file.option + " '-'");
  }
  if (options.size() <= 1) return;
  throw Error(
      ErrorKind::invalid_argument,
      fmt::format("{}: these would all go to the standard output. Give a file to all but one",
                  fmt::join(options, " and ")));
}

std::FILE* OutputOptions::human() const {
  const auto is_stdout = [](const File& file) { return *file.path == "-"; };
  return std::ranges::any_of(files_, is_stdout) ? stderr : stdout;
}

void OutputOptions::write(const Report& report) const {
  if (!csv_path_.empty()) write_file("--csv", csv_path_, to_csv(report));
  if (!json_path_.empty()) write_file("--json", json_path_, report.to_json().dump(2) + "\n");
}

void write_file(const std::string& argument, const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fflush(stdout);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
      fail(argument, path, "cannot write to the standard output");
    }
    return;
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) fail(argument, path, "cannot create this file");
  file << text;
  file.close();
  if (!file) fail(argument, path, "cannot write this file");
}

std::string read_file(const std::string& argument, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(argument, path, "cannot open this file");
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) fail(argument, path, "cannot read this file");
  return text.str();
}

}  // namespace hycoll::command
