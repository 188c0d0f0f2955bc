#ifndef HYCOLL_TOOLS_COMMAND_COLLECTIVE_OPTION_H_
#define HYCOLL_TOOLS_COMMAND_COLLECTIVE_OPTION_H_

#include <string>

namespace CLI {
class App;
}

namespace hycoll::command {

/// The positional argument COLLECTIVE of several subcommands.
struct CollectiveOption {
  std::string name = "allreduce";

  enum class Presence { required, optional };
  void add_to(CLI::App& app, Presence presence);

  /// Throws Error (invalid_argument) when there is no such collective.
  void check() const;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_COLLECTIVE_OPTION_H_
