#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_CREW_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_CREW_H_

#include <mpi.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/cache_lines.h"

namespace hycoll::command {

/// Those who measure together: the threads of this process and of all other processes of a
/// communicator, all in the same code. Uses no collective of hycoll, for those are what is
/// measured.
class Crew {
 public:
  /// Collective over `comm`, called by one thread of each process. The crew uses `comm` itself.
  Crew(MPI_Comm comm, int thread_count);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int thread_count() const noexcept { return thread_count_; }
  /// Whether all processes are on one machine, so that their clocks are one.
  bool is_on_one_machine() const noexcept { return is_on_one_machine_; }

  /// Returns when all threads of all processes have called it.
  void meet(int thread);

  /// Replaces each value by its maximum over all threads of all processes, which pass equally many.
  void maximum(int thread, std::span<double> values);
  double maximum(int thread, double value);

  /// The maximum over all threads of the processes on this machine, whose clocks are one.
  double maximum_on_machine(int thread, double value);

  /// Called by all threads of this process: when they have met, thread 0 calls `function`, while
  /// the others sleep and use no core. Slow: do not use it near measurements.
  template <class Function>
  void alone(int thread, Function function) {
    meet_in_process();
    if (thread != 0) return sleep_until_done(thread);
    function();
    wake_others();
  }

 private:
  void sleep_until_done(int thread);
  void wake_others();
  void meet_in_process();
  void meet_processes();
  void maximum_over(MPI_Comm comm, int thread, std::span<double> values);

  MPI_Comm comm_;
  MPI_Comm machine_ = MPI_COMM_NULL;
  int process_count_ = 1;
  bool is_on_one_machine_ = true;
  int thread_count_;
  std::vector<std::span<double>> posted_;  // per thread; read between two meetings only
  std::mutex sleep_mutex_;
  std::condition_variable wake_up_;
  std::uint64_t times_alone_ = 0;     // guarded by sleep_mutex_
  std::vector<std::uint64_t> slept_;  // per thread: how often it has taken part
  alignas(kSeparationBytes) std::atomic<int> arrived_{0};
  alignas(kSeparationBytes) std::atomic<std::uint32_t> meetings_{0};
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_CREW_H_
