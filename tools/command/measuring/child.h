#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_CHILD_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_CHILD_H_

#include <poll.h>
#include <signal.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
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

/// While one lives, SIGINT, SIGTERM and SIGHUP are remembered instead of ending this program. They
/// nest.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Throws Interrupted if there has been one since the outermost guard was made.
  static void check();

 private:
  std::array<struct sigaction, 3> before_{};
};

/// A running program with an empty standard input, the leader of a process group of its own. Used
/// by one thread, under an InterruptGuard.
class ChildProcess {
 public:
  /// Throws Error (environment) if the program cannot be started.
  explicit ChildProcess(const std::vector<std::string>& command);
  /// Ends it, if it has not ended.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Waits until the program writes or ends, one of `others` is ready, or `patience` has passed;
  /// takes what the program has written. Throws Interrupted.
  void wait(std::span<pollfd> others, std::chrono::milliseconds patience);

  /// What became of it; empty while it runs or somebody holds its outputs open.
  std::optional<ChildResult> ended();

  /// Tells it and its process group to end, and kills them two seconds later. Returns what it had
  /// written.
  ChildResult terminate();

 private:
  class Pipe {
   public:
    explicit Pipe(const std::string& program);
    ~Pipe();
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    int reading() const { return ends_[0]; }
    int writing() const { return ends_[1]; }
    void close_reading() { close_end(0); }
    void close_writing() { close_end(1); }
    /// Takes what the pipe holds. Closes it at its end.
    void take(std::string& text);

   private:
    void close_end(std::size_t end);
    std::array<int, 2> ends_{-1, -1};
  };

  bool reaped_until(std::chrono::steady_clock::time_point deadline);

  Pipe output_;
  Pipe errors_;
  pid_t process_ = 0;
  bool is_reaped_ = false;
  int status_ = 0;  // as waitpid gives it
  ChildResult result_;
};

/// Runs a program until it ends. After `timeout` it is terminated; the same when this program is
/// interrupted. Throws Interrupted; Error (environment) if the program cannot be started.
ChildResult run_child(const std::vector<std::string>& command,
                      std::chrono::steady_clock::duration timeout);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_CHILD_H_
