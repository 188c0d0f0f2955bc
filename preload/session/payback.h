#ifndef HYCOLL_PRELOAD_SESSION_PAYBACK_H_
#define HYCOLL_PRELOAD_SESSION_PAYBACK_H_

#include <mpi.h>

#include <chrono>
#include <cstdint>

#include "core/base/ticks.h"

namespace hycoll::preload {

/// When preparing hycoll for a communicator pays: once the MPI library has spent three times as
/// long on its calls as preparing takes. Had hycoll served them half as fast again, which is less
/// than it does as a rule, it would have saved by then what it costs; and a communicator that has
/// lived for so long is likely to live for as long again. One that is freed before pays nothing.
///
/// The processes decide alike: after 4 calls, 8, 16, ... they compare what they have measured, in
/// an MPI_Allreduce of two numbers. Used as MPI demands of collectives: by one thread at a time.
class Payback {
 public:
  /// Another call of the communicator's goes to the MPI library.
  void count_call() noexcept { ++calls_; }
  int calls() const noexcept { return calls_; }

  /// What one of the calls took; of others, such as nonblocking ones, it is taken to be the same.
  void add(std::uint64_t spent_ticks) noexcept;

  /// Whether it is time to ask pays(). The same on all processes, as the calls are.
  bool is_due() const noexcept { return calls_ >= next_look_; }

  /// Collective over the communicator: whether preparing pays. The same on all of its processes:
  /// the least time that one of them has measured counts, in calls and for preparing, for those
  /// that do not come last measure how long they wait for the last one, too.
  bool pays(MPI_Comm communicator);

  /// What preparing for a communicator of so many processes has taken this one. Thread-safe.
  static void note_preparation(int process_count, std::chrono::duration<double> time) noexcept;

 private:
  double seconds_in_calls() const noexcept;

  int calls_ = 0;
  int next_look_ = 4;
  int timed_calls_ = 0;
  std::uint64_t ticks_in_calls_ = 0;
  TickRate rate_;
};

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_PAYBACK_H_
