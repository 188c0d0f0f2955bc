#include "tools/command/line/isolated_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "core/base/errors.h"

namespace hycoll::command {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what) {
  throw Error(
      ErrorKind::environment,
      fmt::format("{}: {}. End other programs, or raise their limits (ulimit -u, ulimit -n)", what,
                  std::strerror(errno)));
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno != EINTR) return false;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return true;
}

/// The copy's part. What this process has open and buffered stays its own.
[[noreturn]] void run_copy(const std::function<std::string()>& function, int writing,
                           pid_t original) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != original) _exit(1);
  _exit(write_all(writing, function()) ? 0 : 1);
}

/// Reads until the writer has closed its end; false if `patience` passes before.
bool read_all(int descriptor, std::chrono::milliseconds patience, std::string& text) {
  const Clock::time_point deadline = Clock::now() + patience;
  std::array<char, 4096> buffer;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{descriptor, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count == 0) return true;
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

int status_of(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

IsolatedRun run_isolated(const std::function<std::string()>& function,
                         std::chrono::milliseconds patience) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("cannot create a pipe");
  const pid_t original = getpid();
  const pid_t copy = fork();
  if (copy == 0) run_copy(function, ends[1], original);
  close(ends[1]);
  if (copy < 0) {
    close(ends[0]);
    fail("cannot start a process");
  }
  IsolatedRun run;
  const bool in_time = read_all(ends[0], patience, run.text);
  close(ends[0]);
  if (!in_time) kill(copy, SIGKILL);
  const int status = status_of(copy);
  if (!in_time) {
    run.end = IsolatedRun::End::timed_out;
  } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    run.end = IsolatedRun::End::died;
    run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  return run;
}

}  // namespace hycoll::command
