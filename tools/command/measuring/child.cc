#include "tools/command/measuring/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "core/base/errors.h"

extern char** environ;

namespace hycoll::command {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kGracePeriod = std::chrono::seconds(2);
constexpr auto kNap = std::chrono::milliseconds(10);
constexpr int kPollMilliseconds = 100;
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t interrupted = 0;

/// While it lives, signals that would end this program are remembered instead.
class InterruptGuard {
 public:
  InterruptGuard() {
    interrupted = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = 1; };
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], &action, &before_[i]);
    }
  }
  ~InterruptGuard() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], &before_[i], nullptr);
    }
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  std::array<struct sigaction, kSignals.size()> before_{};
};

[[noreturn]] void fail(const std::string& program, int error) {
  throw Error(ErrorKind::environment,
              fmt::format("'{}' cannot be started ({}). Check that it is installed and that "
                          "processes may be created",
                          program, std::strerror(error)));
}

class Pipe {
 public:
  explicit Pipe(const std::string& program) {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) fail(program, errno);
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void close_reading() { close_end(0); }
  void close_writing() { close_end(1); }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

/// Starts a program as the leader of a process group of its own.
pid_t start(const std::vector<std::string>& command, const Pipe& output, const Pipe& errors) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));  // posix_spawnp does not write there
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.writing(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.writing(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) fail(command[0], error);
  return process;
}

/// Takes what a pipe holds. Closes it at its end.
void take(Pipe& pipe, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(pipe.reading(), buffer.data(), buffer.size());
  if (count > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || errno != EINTR) {
    pipe.close_reading();
  }
}

/// Takes what the child writes until it has closed both pipes. Returns false if `deadline` passed
/// or the user interrupted before.
bool take_all(Pipe& output, Pipe& errors, ChildResult& result, Clock::time_point deadline) {
  while (output.reading() >= 0 || errors.reading() >= 0) {
    if (interrupted != 0 || Clock::now() >= deadline) return false;
    // Descriptors below 0 are ignored by poll.
    std::array<pollfd, 2> waiting = {
        {{output.reading(), POLLIN, 0}, {errors.reading(), POLLIN, 0}}};
    if (poll(waiting.data(), waiting.size(), kPollMilliseconds) <= 0) continue;
    if (waiting[0].revents != 0) take(output, result.output);
    if (waiting[1].revents != 0) take(errors, result.errors);
  }
  return true;
}

/// Whether the child has ended before the deadline (or the user's interruption, if it counts).
bool reaped_until(pid_t process, int& status, Clock::time_point deadline, bool interruptible) {
  for (;;) {
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process || (ended < 0 && errno != EINTR)) return true;
    if (Clock::now() >= deadline || (interruptible && interrupted != 0)) return false;
    std::this_thread::sleep_for(kNap);
  }
}

/// Ends the child's process group. mpiexec needs the time between the two signals to end its ranks,
/// which may be in groups of their own.
void end_group(pid_t process, int& status) {
  kill(-process, SIGTERM);
  if (!reaped_until(process, status, Clock::now() + kGracePeriod, false)) {
    kill(-process, SIGKILL);
    reaped_until(process, status, Clock::time_point::max(), false);
  }
  kill(-process, SIGKILL);  // those of the group that outlived their leader
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, Clock::duration timeout) {
  const InterruptGuard guard;
  Pipe output(command[0]);
  Pipe errors(command[0]);
  const pid_t process = start(command, output, errors);
  output.close_writing();
  errors.close_writing();
  const Clock::time_point deadline = Clock::now() + timeout;
  ChildResult result;
  int status = 0;
  const bool ended =
      take_all(output, errors, result, deadline) && reaped_until(process, status, deadline, true);
  if (!ended) {
    end_group(process, status);
    if (interrupted != 0) throw Interrupted();
    result.end = ChildResult::End::timed_out;
    return result;
  }
  const bool killed = WIFSIGNALED(status);
  result.end = killed ? ChildResult::End::killed_by_signal : ChildResult::End::exited;
  result.status = killed ? WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace hycoll::command
