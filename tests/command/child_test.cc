#include "tools/command/measuring/child.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "core/base/errors.h"

namespace hycoll::command {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

ChildResult run_shell(const std::string& script, std::chrono::steady_clock::duration timeout) {
  return run_child({"sh", "-c", script}, timeout);
}

/// Whether a process whose number a child wrote is there; waits for it to vanish.
bool vanishes(const std::string& process) {
  const pid_t pid = static_cast<pid_t>(std::stol(process));
  for (int i = 0; i < 500; ++i) {
    if (kill(pid, 0) != 0) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST_CASE("both outputs and the exit status come back") {
  const ChildResult result = run_shell("echo out; echo err >&2; exit 3", kPatience);
  CHECK(result.end == ChildResult::End::exited);
  CHECK(result.status == 3);
  CHECK(result.output == "out\n");
  CHECK(result.errors == "err\n");
  CHECK_FALSE(result.succeeded());
  CHECK(run_shell("true", kPatience).succeeded());
}

TEST_CASE("more output than a pipe holds comes back whole, from both pipes") {
  const ChildResult result = run_shell(
      "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; "
      "echo 98765432109876543210987654321098765432109 >&2; i=$((i+1)); done",
      kPatience);
  CHECK(result.output.size() == 3000 * 41);
  CHECK(result.errors.size() == 3000 * 42);
}

TEST_CASE("the standard input is empty") {
  CHECK(run_shell("cat; echo end", kPatience).output == "end\n");
}

TEST_CASE("a signal that kills the child is told from an exit") {
  const ChildResult result = run_shell("kill -KILL $$", kPatience);
  CHECK(result.end == ChildResult::End::killed_by_signal);
  CHECK(result.status == SIGKILL);
}

TEST_CASE("after the timeout the child and what it started are gone") {
  const ChildResult result = run_shell("sleep 1000 & echo $!; wait", 200ms);
  CHECK(result.end == ChildResult::End::timed_out);
  CHECK_FALSE(result.succeeded());
  CHECK(vanishes(result.output));
}

TEST_CASE("a child that ignores the request to end is killed") {
  const ChildResult result = run_shell("trap '' TERM; echo $$; while :; do sleep 1; done", 200ms);
  CHECK(result.end == ChildResult::End::timed_out);
  CHECK(vanishes(result.output));
}

TEST_CASE("an interruption ends the child and is thrown") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    CAPTURE(number);
    std::thread user([number] {
      std::this_thread::sleep_for(300ms);
      kill(getpid(), number);
    });
    CHECK_THROWS_AS(run_shell("sleep 1000", kPatience), Interrupted);
    user.join();
  }
}

TEST_CASE("a program that does not exist is an error that names it") {
  try {
    run_child({"hycoll-no-such-program"}, kPatience);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
    CHECK(std::string(error.what()).find("hycoll-no-such-program") != std::string::npos);
  }
}

}  // namespace
}  // namespace hycoll::command
