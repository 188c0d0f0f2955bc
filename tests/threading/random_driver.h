#ifndef HYCOLL_TESTS_THREADING_RANDOM_DRIVER_H_
#define HYCOLL_TESTS_THREADING_RANDOM_DRIVER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/types.h"
#include "core/schedule/schedule.h"
#include "tests/threading/mailbox_network.h"
#include "threading/program/program.h"

namespace hycoll {

/// How a driver executes a schedule whose staging is bounded.
struct StagingLimit {
  std::size_t bytes =
      SIZE_MAX;  ///< Of each worker, in one set. A call has as many runs as it takes.
  std::size_t short_bytes = 0;  ///< As BindingOptions::short_staging_bytes.
};

/// Runs a schedule with all its workers on all its emulated nodes in one thread, one step of a
/// randomly chosen worker at a time: hunts races and deadlocks without threads and without MPI. The
/// same seed gives the same interleaving. Workers that have finished a call enter the next one
/// while others are still in the old one.
class RandomDriver {
 public:
  /// What a member hands in.
  struct Buffers {
    const void* input;
    void* output;
  };

  struct Callbacks {
    /// The member enters the call: returns its buffers, freshly filled.
    std::function<Buffers(int member, int call)> enter;
    /// The member has left the call: its output is to be checked, and both buffers may be
    /// overwritten.
    std::function<void(int member, int call)> leave;
  };

  RandomDriver(const Schedule& schedule, const VectorExtent& extent, DataType type, Operator op,
               MailboxNetwork::Delivery delivery, StagingLimit limit = {});
  ~RandomDriver();

  /// Runs `call_count` calls. Throws Error (timeout) that names who waits for what if nobody can go
  /// on.
  void run(std::uint64_t seed, int call_count, const Callbacks& callbacks);

  /// The runs of each call.
  int runs_per_call() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hycoll

#endif  // HYCOLL_TESTS_THREADING_RANDOM_DRIVER_H_
