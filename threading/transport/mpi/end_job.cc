#include "threading/transport/mpi/end_job.h"

#include <mpi.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace hycoll {
namespace {

/// Whether standard error is a pipe or a terminal from which somebody has still to read.
bool is_unread() {
  int unread_bytes = 0;
  return ioctl(STDERR_FILENO, FIONREAD, &unread_bytes) == 0 && unread_bytes > 0;
}

void let_launcher_read() {
  using std::chrono::milliseconds;
  constexpr milliseconds kPatience{1000};
  constexpr milliseconds kNap{1};
  // From the launcher's helper on this machine to the launcher itself: nobody tells when.
  constexpr milliseconds kForwarding{20};
  const auto start = std::chrono::steady_clock::now();
  while (is_unread() && std::chrono::steady_clock::now() - start < kPatience) {
    std::this_thread::sleep_for(kNap);
  }
  std::this_thread::sleep_for(kForwarding);
}

void say(std::string_view message) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
  std::fflush(nullptr);
}

[[noreturn]] void abort_job(int exit_status) {
  let_launcher_read();
  MPI_Abort(MPI_COMM_WORLD, exit_status);
  std::_Exit(exit_status);  // MPI_Abort returns in MPICH 4.2, before the launcher ends the process
}

}  // namespace

void end_job(std::string_view message, int exit_status) {
  say(message);
  abort_job(exit_status);
}

void end_job_after_launcher(std::string_view message, int exit_status) {
  say(message);
  wait_for_launcher();
  abort_job(exit_status);
}

void wait_for_launcher() { std::this_thread::sleep_for(std::chrono::seconds(1)); }

}  // namespace hycoll
