#ifndef HYCOLL_PRELOAD_SESSION_DYING_COMMUNICATOR_H_
#define HYCOLL_PRELOAD_SESSION_DYING_COMMUNICATOR_H_

#include <mpi.h>

namespace hycoll::preload {

/// As long as it lives, the MPI library is ending a communicator in a call by this thread, and runs
/// the delete callbacks of its attributes. What these callbacks call on the communicator is the MPI
/// library's: an attribute that is set now is dropped without its own callback, so nobody would be
/// told when the handle gets another meaning; and MPICH must not be asked for attributes while it
/// deletes them.
///
/// One thread may end several at once: a callback may free another communicator.
class DyingCommunicator {
 public:
  explicit DyingCommunicator(MPI_Comm communicator) noexcept
      : communicator_(communicator), outer_(innermost_) {
    innermost_ = this;
  }
  ~DyingCommunicator() { innermost_ = outer_; }
  DyingCommunicator(const DyingCommunicator&) = delete;
  DyingCommunicator& operator=(const DyingCommunicator&) = delete;

  /// Whether this thread is ending the communicator. All processes answer alike, because ending one
  /// is collective.
  static bool is_dying(MPI_Comm communicator) noexcept {
    const DyingCommunicator* dying = innermost_;
    while (dying != nullptr && dying->communicator_ != communicator) dying = dying->outer_;
    return dying != nullptr;
  }

 private:
  static inline constinit thread_local const DyingCommunicator* innermost_ = nullptr;

  MPI_Comm communicator_;
  const DyingCommunicator* outer_;
};

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_DYING_COMMUNICATOR_H_
