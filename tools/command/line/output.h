#ifndef HYCOLL_TOOLS_COMMAND_LINE_OUTPUT_H_
#define HYCOLL_TOOLS_COMMAND_LINE_OUTPUT_H_

#include <cstdio>
#include <string>
#include <vector>

#include "tools/command/line/command_line.h"
#include "tools/command/line/json.h"

namespace hycoll::command {

/// What a subcommand found, for machines: {"context": {...}, "records": [{...}, ...]}.
struct Report {
  Json context = Json::object();
  std::vector<Json> records;

  Json to_json() const;
};

/// The report's records as comma-separated values: a header of all keys in the order in which they
/// first occur, then a line for each record; null and missing values are empty, values that hold a
/// comma, a quote or a line break are quoted as RFC 4180 says. Nested values are written as JSON.
std::string to_csv(const Report& report);

/// Where a subcommand writes. A path is "" if nothing is asked for, and "-" for the standard
/// output.
class OutputOptions {
 public:
  OutputOptions() = default;
  OutputOptions(const OutputOptions&) = delete;
  OutputOptions& operator=(const OutputOptions&) = delete;

  /// Adds --csv and --json.
  void add_to(CommandLine& line);

  /// Adds a further option for a file. The path outlives this object.
  void add_file(CommandLine& line, const std::string& option, std::string& path,
                const std::string& help);

  /// Throws Error (invalid_argument) if several would go to the standard output.
  void check() const;

  /// Where text for people goes: standard output, or standard error if a file goes to the former.
  std::FILE* human() const;

  /// Writes what was asked for by --csv and --json. Errors: as write_file.
  void write(const Report& report) const;

 private:
  struct File {
    std::string option;
    const std::string* path;
  };

  std::string csv_path_;
  std::string json_path_;
  std::vector<File> files_;
};

/// Writes a whole file, or the standard output if `path` is "-". Throws Error (environment) naming
/// `argument`, the path and the reason.
void write_file(const std::string& argument, const std::string& path, const std::string& text);

/// Reads a whole file. Throws Error (environment) naming `argument`, the path and the reason.
std::string read_file(const std::string& argument, const std::string& path);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_LINE_OUTPUT_H_
