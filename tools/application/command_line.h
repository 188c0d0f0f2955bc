#ifndef HYCOLL_TOOLS_APPLICATION_COMMAND_LINE_H_
#define HYCOLL_TOOLS_APPLICATION_COMMAND_LINE_H_

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace hycoll::application {

/// Of all programs; what 1 means is theirs.
inline constexpr int kSuccess = 0;
inline constexpr int kUnusableInput = 2;

/// What is printed, on rank 0, instead of running.
struct InsteadOfRunning {
  std::string output;
  std::string error_output;
  int exit_code = kSuccess;
};

/// What the user asked for, or what to print and exit with.
template <class CommandLine>
struct Parsed : InsteadOfRunning {
  std::optional<CommandLine> command_line;
};

/// What the parser has to say where it has thrown: help, or what is wrong.
InsteadOfRunning instead_of_running(const CLI::App& app, const CLI::ParseError& error);

/// The names of all kinds, by name_of().
template <class Kinds>
std::vector<std::string> names_of(const Kinds& all) {
  std::vector<std::string> names;
  for (const auto kind : all) names.emplace_back(name_of(kind));
  return names;
}

/// The kinds with these names, each once, in the order of their first mention.
template <class Kind, class Kinds>
std::vector<Kind> kinds_named(const std::vector<std::string>& names, const Kinds& all) {
  std::vector<Kind> kinds;
  for (const std::string& name : names) {
    for (const Kind kind : all) {
      const bool is_there = std::ranges::find(kinds, kind) != kinds.end();
      if (name_of(kind) == name && !is_there) kinds.push_back(kind);
    }
  }
  return kinds;
}

}  // namespace hycoll::application

#endif  // HYCOLL_TOOLS_APPLICATION_COMMAND_LINE_H_
