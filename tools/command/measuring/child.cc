#include "tools/command/measuring/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <tuple>

#include "core/base/errors.h"

extern char** environ;

namespace hycoll::command {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kGracePeriod = std::chrono::seconds(2);
constexpr auto kShortNap = std::chrono::milliseconds(10);
constexpr auto kPollInterval = std::chrono::milliseconds(100);
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t interrupted = 0;
int guards = 0;

[[noreturn]] void fail(const std::string& program, int error) {
  throw Error(ErrorKind::environment,
              fmt::format("'{}' cannot be started ({}). Check that it is installed and that "
                          "processes may be created",
                          program, std::strerror(error)));
}

/// Starts a program as the leader of a process group of its own.
pid_t start(const std::vector<std::string>& command, int output, int errors) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));  // posix_spawnp does not write there
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
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

}  // namespace

InterruptGuard::InterruptGuard() {
  static_assert(kSignals.size() == std::tuple_size_v<decltype(before_)>);
  if (guards++ == 0) interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  --guards;
}

void InterruptGuard::check() {
  if (interrupted != 0) throw Interrupted();
}

ChildProcess::Pipe::Pipe(const std::string& program) {
  if (pipe2(ends_.data(), O_CLOEXEC) != 0) fail(program, errno);
}

ChildProcess::Pipe::~Pipe() {
  close_end(0);
  close_end(1);
}

void ChildProcess::Pipe::take(std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(reading(), buffer.data(), buffer.size());
  if (count > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || errno != EINTR) {
    close_reading();
  }
}

void ChildProcess::Pipe::close_end(std::size_t end) {
  if (ends_[end] >= 0) close(ends_[end]);
  ends_[end] = -1;
}

ChildProcess::ChildProcess(const std::vector<std::string>& command)
    : output_(command[0]),
      errors_(command[0]),
      process_(start(command, output_.writing(), errors_.writing())) {
  output_.close_writing();
  errors_.close_writing();
}

ChildProcess::~ChildProcess() {
  if (!is_reaped_) terminate();
}

void ChildProcess::wait(std::span<pollfd> others, std::chrono::milliseconds patience) {
  InterruptGuard::check();
  const bool silent = output_.reading() < 0 && errors_.reading() < 0;
  // Nothing tells of the end of a program whose outputs are closed.
  if (silent) patience = std::min(patience, std::chrono::milliseconds(kShortNap));
  // Descriptors below 0 are ignored by poll.
  std::vector<pollfd> waiting = {{output_.reading(), POLLIN, 0}, {errors_.reading(), POLLIN, 0}};
  waiting.insert(waiting.end(), others.begin(), others.end());
  const auto interval = std::min(patience, std::chrono::milliseconds(kPollInterval));
  const int ready = poll(waiting.data(), waiting.size(), static_cast<int>(interval.count()));
  InterruptGuard::check();
  if (ready <= 0) return;
  if (waiting[0].revents != 0) output_.take(result_.output);
  if (waiting[1].revents != 0) errors_.take(result_.errors);
  std::copy(waiting.begin() + 2, waiting.end(), others.begin());
}

std::optional<ChildResult> ChildProcess::ended() {
  if (output_.reading() >= 0 || errors_.reading() >= 0) return std::nullopt;
  if (!reaped_until(Clock::now())) return std::nullopt;
  const bool killed = WIFSIGNALED(status_);
  result_.end = killed ? ChildResult::End::killed_by_signal : ChildResult::End::exited;
  result_.status = killed ? WTERMSIG(status_) : WEXITSTATUS(status_);
  return result_;
}

bool ChildProcess::reaped_until(Clock::time_point deadline) {
  for (;;) {
    if (is_reaped_) return true;
    const pid_t ended = waitpid(process_, &status_, WNOHANG);
    is_reaped_ = ended == process_ || (ended < 0 && errno != EINTR);
    if (is_reaped_) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kShortNap);
  }
}

// mpiexec needs the time between the two signals to end its ranks, which may be in groups of their
// own.
ChildResult ChildProcess::terminate() {
  kill(-process_, SIGTERM);
  if (!reaped_until(Clock::now() + kGracePeriod)) {
    kill(-process_, SIGKILL);
    reaped_until(Clock::time_point::max());
  }
  kill(-process_, SIGKILL);  // those of the group that outlived their leader
  return result_;
}

ChildResult run_child(const std::vector<std::string>& command, Clock::duration timeout) {
  const InterruptGuard guard;
  ChildProcess child(command);
  const Clock::time_point deadline = Clock::now() + timeout;
  for (;;) {
    if (auto result = child.ended()) return *result;
    if (Clock::now() >= deadline) {
      ChildResult result = child.terminate();
      result.end = ChildResult::End::timed_out;
      return result;
    }
    child.wait({}, kPollInterval);
  }
}

}  // namespace hycoll::command
