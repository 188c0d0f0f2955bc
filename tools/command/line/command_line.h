#ifndef HYCOLL_TOOLS_COMMAND_LINE_COMMAND_LINE_H_
#define HYCOLL_TOOLS_COMMAND_LINE_COMMAND_LINE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/command/line/manual.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hycoll::command {

/// "" if the text of an argument is accepted; otherwise what is wrong with it, and the remedy. (The
/// option's name is put before it.)
using Check = std::function<std::string(const std::string&)>;

/// An option of a CommandLine, which outlives it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// What stands for its value in the help.
  Option& type_name(const char* name);
  Option& check(Check check);
  /// Accepts numbers above 0, or from `minimum` to `maximum`.
  Option& check_positive();
  Option& check_range(double minimum, double maximum);
  /// The help shows the target's present value, or this text, as the default.
  Option& show_default();
  Option& show_default(const std::string& text);
  Option& required();

 private:
  CLI::Option* option_;
};

/// What `hycoll` or a subcommand accepts, and where that goes. CLI11 does the work; its header
/// takes a compiler longer than most files here, so that the sources of this library only include
/// it.
class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& name);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Owned by this one.
  CommandLine& add_subcommand(const char* name, const char* summary);
  /// The text after the options' help.
  void add_explanation(const char* text);
  /// The help does not list it.
  void hide();
  void require_subcommand();
  /// Adds --version, which prints what the function returns.
  void add_version(std::function<std::string()> text);

  /// `names` are "--long,--other" or the name of a positional argument. The target keeps its value
  /// unless the option is given.
  Option add_option(const std::string& names, std::string& target, const std::string& help);
  Option add_option(const std::string& names, std::vector<std::string>& target,
                    const std::string& help);
  Option add_option(const std::string& names, int& target, const std::string& help);
  Option add_option(const std::string& names, std::optional<int>& target, const std::string& help);
  Option add_option(const std::string& names, double& target, const std::string& help);
  Option add_option(const std::string& names, std::function<void(const std::string&)> receive,
                    const std::string& help);
  /// `names` may hold "!--no-name", which clears it.
  Option add_flag(const std::string& names, bool& target, const std::string& help);

  /// Null if the arguments are understood. Otherwise the exit status, after help or the error has
  /// been printed if `speaks`; `usage_error` is the status of the latter.
  std::optional<int> parse(int argc, char** argv, bool speaks, int usage_error);

  /// The pages of the command and of its subcommands: manual_pages().
  std::vector<ManualPage> manual(const std::string& source, const std::string& date) const;

  /// Whether the arguments chose this subcommand.
  bool chosen() const;

 private:
  explicit CommandLine(CLI::App* subcommand);
  std::string subcommand_names() const;

  std::unique_ptr<CLI::App> root_;  // null in a subcommand
  CLI::App* app_;
  std::vector<std::unique_ptr<CommandLine>> subcommands_;
};

/// The parts between separators, of "" the one that is empty; a separator at the end is ignored.
std::vector<std::string> split(const std::string& text, char separator);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_LINE_COMMAND_LINE_H_
