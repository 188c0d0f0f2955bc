#ifndef HYCOLL_TOOLS_COMMAND_LINE_ISOLATED_RUN_H_
#define HYCOLL_TOOLS_COMMAND_LINE_ISOLATED_RUN_H_

#include <chrono>
#include <functional>
#include <string>

namespace hycoll::command {

/// What became of a function in a process of its own.
struct IsolatedRun {
  enum class End { returned, timed_out, died };
  End end = End::returned;
  int signal = 0;    ///< That it died of; 0 if it exited.
  std::string text;  ///< What it returned.
};

/// Calls `function` in a copy of this process, which is killed when `patience` has passed, and when
/// this process ends. Requires a process with one thread. Throws Error (environment) if there can
/// be no copy.
IsolatedRun run_isolated(const std::function<std::string()>& function,
                         std::chrono::milliseconds patience);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_LINE_ISOLATED_RUN_H_
