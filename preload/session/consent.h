#ifndef HYCOLL_PRELOAD_SESSION_CONSENT_H_
#define HYCOLL_PRELOAD_SESSION_CONSENT_H_

#include <mpi.h>

namespace hycoll::preload {

/// Whether all processes of a communicator want hycoll to prepare itself for it, which needs all of
/// them. A process that makes a mistake in a call returns at once, as from the MPI library, while
/// others may be preparing hycoll in that call: it must not leave them waiting. So it does not
/// consent: it tells those that ask in its next call at which hycoll would prepare itself, or at
/// the beginning of MPI_Finalize. (Not when the communicator is freed. Where nobody asks, what it
/// tells would stay with the MPI library, and spoil the next communicator with the same number.)
///
/// Used as MPI demands of collectives: by one thread at a time.
class Consent {
 public:
  /// After a mistake. Local.
  void withdraw(MPI_Comm communicator) noexcept { withdrawn_from_ = communicator; }

  /// Collective: the same answer on all processes. Throws Error (environment) if MPI fails.
  bool is_given_by_all(MPI_Comm communicator);

  /// If this process has withdrawn, tells those that ask now; and later ones as far as the MPI
  /// library delivers what has been sent. Waits for 0.1 s at most.
  void tell_those_that_ask() noexcept;

 private:
  MPI_Comm withdrawn_from_ = MPI_COMM_NULL;  ///< Null: not withdrawn, or all have been told.
};

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_CONSENT_H_
