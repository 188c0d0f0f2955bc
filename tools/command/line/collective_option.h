#ifndef HYCOLL_TOOLS_COMMAND_LINE_COLLECTIVE_OPTION_H_
#define HYCOLL_TOOLS_COMMAND_LINE_COLLECTIVE_OPTION_H_

#include <string>

#include "tools/command/line/command_line.h"
#include "tools/command/line/routine.h"

namespace hycoll::command {

/// The positional argument COLLECTIVE of several subcommands.
struct CollectiveOption {
  std::string name = "allreduce";  ///< The default, if it is not given.

  /// `extra` is added to its line of help.
  void add_to(CommandLine& line, const std::string& extra = "");

  /// Throws Error (invalid_argument) when there is no such collective.
  Routine routine() const;
};

/// The option --root, of the rank that a reduce delivers to, or a broadcast begins at.
struct RootOption {
  int root = 0;

  void add_to(CommandLine& line);

  /// Throws Error (invalid_argument) when a root is given that the routine does not have.
  void check(Routine routine) const;
};

/// --type, --op and --reproducible of several subcommands.
void add_type_option(CommandLine& line, std::string& type);
void add_operator_option(CommandLine& line, std::string& op);
void add_reproducible_option(CommandLine& line, bool& reproducible);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_LINE_COLLECTIVE_OPTION_H_
