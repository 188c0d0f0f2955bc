#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_CHILD_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_CHILD_H_

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace hycoll::command {

/// The user has interrupted this program (SIGINT, SIGTERM or SIGHUP) while it waited for a child,
/// which is gone by then.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

/// What became of a child process.
struct ChildResult {
  enum class End { exited, killed_by_signal, timed_out };
  End end = End::exited;
  int status = 0;      ///< The exit status, or the number of the signal.
  std::string output;  ///< What it wrote to its standard output,
  std::string errors;  ///< and to its standard error.

  bool succeeded() const noexcept { return end == End::exited && status == 0; }
};

/// Runs a program, with an empty standard input, until it ends. After `timeout` it and its process
/// group are told to end, and two seconds later killed; the same when this program is interrupted.
/// One call at a time. Throws Interrupted; Error (environment) if the program cannot be started.
ChildResult run_child(const std::vector<std::string>& command,
                      std::chrono::steady_clock::duration timeout);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_CHILD_H_
