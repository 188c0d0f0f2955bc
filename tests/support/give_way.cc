// Threads that wait leave their cores to others: ranks that need all of the machine's cores in
// MPICH, and whoever yields.
//
// MPICH looks for messages without a pause, and a rank that waits keeps its core from the one that
// it waits for until the kernel takes it away: on 2 cores a barrier of 5 ranks takes 20 ms. The
// definition below takes the place of UCX's function in every program that it is linked into, calls
// that one, and pauses when nothing has happened for long. Open MPI yields by itself where it knows
// of too many ranks, and seldom comes here. As many ranks as cores give way, too: with another test
// beside them, two may find themselves on one core. Nothing changes for fewer.
//
// Threads that yield to one another without a pause can keep everybody else off their cores, the
// kernel's own threads among them: under Linux 6.18, tests over Open MPI, which yields whenever it
// looks for messages here, held one core for minutes ("workqueue lockup", "rcu_preempt kthread
// starved"), until a time limit ended them. There one yield of many is a nap. Not over MPICH, which
// yields seldom: the naps let those that yield pass those that only want to run, and
// refused_differences_mpi_test starved.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

namespace {

using Progress = unsigned (*)(void*);

constexpr int kIdleLooks = 32;       // before the core is offered to others
constexpr int kYieldingLooks = 200;  // before it is left to them
constexpr int kNapMicroseconds = 20;
constexpr unsigned kYieldsPerNap = 32;

bool needs_all_cores() {
  const char* const ranks = std::getenv("HYCOLL_TEST_RANKS");
  return ranks != nullptr &&
         std::strtoul(ranks, nullptr, 10) >= std::thread::hardware_concurrency();
}

void give_way(int idle_looks) {
  if (idle_looks > kYieldingLooks) {
    usleep(kNapMicroseconds);
  } else if (idle_looks > kIdleLooks) {
    std::this_thread::yield();
  }
}

}  // namespace

extern "C" unsigned ucp_worker_progress(void* worker) {
  static const auto progress = reinterpret_cast<Progress>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  static const bool gives_way = needs_all_cores();
  static thread_local int idle_looks = 0;
  const unsigned events = progress(worker);
  idle_looks = events > 0 ? 0 : idle_looks + 1;
  if (gives_way) give_way(idle_looks);
  return events;
}

extern "C" int sched_yield() noexcept {
  static const bool naps = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
  static thread_local unsigned yields = 0;
  if (!naps || ++yields % kYieldsPerNap != 0) return static_cast<int>(syscall(SYS_sched_yield));
  usleep(kNapMicroseconds);
  return 0;
}
