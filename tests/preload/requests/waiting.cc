// With HYCOLL_WAIT=sleep a rank that waits for a late one leaves its core to others, in blocking,
// nonblocking and persistent calls.

#include <mpi.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "tests/preload/support/nonblocking_operation.h"
#include "tests/preload/support/persistent_operation.h"
#include "tests/preload/support/programs.h"
#include "tests/support/processor_time.h"

namespace {

using programs::rank_of;
using programs::size_of;
using Seconds = std::chrono::duration<double>;

constexpr std::chrono::milliseconds kDelay{500};
constexpr double kMostShare = 0.05;

/// What share of a core a process has used in a call for which the last rank is late; 0 there.
template <class Call>
double share_of_wait(MPI_Comm communicator, const char* name, const Call& call) {
  MPI_Barrier(communicator);
  const bool is_late = rank_of(communicator) == size_of(communicator) - 1;
  if (is_late) std::this_thread::sleep_for(kDelay);
  const double used_before = processor_seconds(RUSAGE_SELF);
  const auto begin = std::chrono::steady_clock::now();
  call();
  const double time = Seconds(std::chrono::steady_clock::now() - begin).count();
  const double used = processor_seconds(RUSAGE_SELF) - used_before;
  if (is_late) return 0;
  std::printf("waiting: %s: %.2f %% of a core in %.3f s\n", name, 100 * used / time, time);
  std::fflush(stdout);
  return time < 0.5 * Seconds(kDelay).count() ? 1 : used / time;
}

/// Ends the job if processes that wait for the last rank use their cores meanwhile, at three
/// attempts: on a busy machine each look takes longer for once.
template <class Call>
void check_wait(MPI_Comm communicator, const char* name, const Call& call) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const double share = share_of_wait(communicator, name, call);
    double most = 0;
    PMPI_Allreduce(&share, &most, 1, MPI_DOUBLE, MPI_MAX, communicator);
    if (most <= kMostShare) return;
  }
  std::printf("waiting: %s: expected at most %.0f %% of a core in %.1f s\n", name, 100 * kMostShare,
              Seconds(kDelay).count());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  double own = 1;
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, communicator);
  }
  check_wait(communicator, "allreduce",
             [&] { MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, communicator); });
  // As programs::completed() knows them.
  constexpr std::uint64_t kWait = 0;
  constexpr std::uint64_t kWaitany = 5;
  constexpr std::uint64_t kWaitsome = 6;
  constexpr std::uint64_t kWaitall = 7;
  for (const std::uint64_t way : {kWaitsome, kWaitall}) {
    check_wait(communicator, "iallreduce", [&] {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Iallreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, communicator, &request);
      programs::completed(request, way);
    });
  }
  {
    programs::PersistentOperation persistent(communicator, programs::Persistent::allreduce, 100, 0,
                                             false);
    for (const std::uint64_t way : {kWait, kWaitany, kWaitall}) {
      check_wait(communicator, "allreduce_init", [&] {
        persistent.start(way);
        persistent.finish(way);
      });
    }
  }
  MPI_Comm_free(&communicator);
  MPI_Finalize();
  return 0;
}
