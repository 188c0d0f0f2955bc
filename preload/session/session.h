#ifndef HYCOLL_PRELOAD_SESSION_SESSION_H_
#define HYCOLL_PRELOAD_SESSION_SESSION_H_

#include <mpi.h>

#include <atomic>
#include <mutex>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "preload/session/attachment.h"
#include "preload/session/recent_attachments.h"
#include "preload/session/report.h"
#include "preload/session/settings.h"
#include "threading/transport/mpi/joint_setup.h"

namespace hycoll::preload {

/// The preload library in one process, from MPI_Init to MPI_Finalize. All functions are thread-safe
/// as far as MPI's own are.
class Session {
 public:
  /// The process's only one.
  static Session& instance() noexcept;

  /// After MPI has been initialised; collective over MPI_COMM_WORLD. Reads the settings, and ends
  /// the job with a message if they cannot be read. Stays closed, on all processes, if one cannot
  /// open it.
  void open();

  /// What is kept for a communicator; null before open() and after close(), for MPI_COMM_NULL, and
  /// for a DyingCommunicator. Local.
  static Attachment* find(MPI_Comm communicator) {
    if (Attachment* const recent = recent_.find(communicator)) [[likely]]
      return recent;
    return instance().find_anew(communicator);
  }

  /// Returns when no nonblocking call of hycoll's is under way on the communicator.
  void finish_nonblocking(MPI_Comm communicator);

  /// A DyingCommunicator is there for it: find() asks about that from now on.
  void overlook(MPI_Comm communicator) noexcept;

  /// Deletes an attachment later that has no owner any more, and whose communicator has been freed:
  /// its end calls MPI, but the last call on it may have completed inside of the MPI library.
  void retire(Attachment& attachment) noexcept;
  /// Deletes those that have been retired. By a function that the program has called.
  void end_retired() noexcept;

  const Settings& settings() const noexcept { return settings_; }

  /// Null unless a report is wanted.
  Report* report() noexcept { return settings_.reports() ? &report_ : nullptr; }

  /// Gives up everything and reports; collective over MPI_COMM_WORLD. MPI calls it, at the
  /// beginning of MPI_Finalize.
  void close() noexcept;

 private:
  Session() = default;
  /// Reads the settings; returns whether they, and the builds of hycoll, are the same on all
  /// processes. A step of their set-up.
  bool read_settings(JointSetup& setup);
  void write_report();
  Attachment* find_anew(MPI_Comm communicator);
  /// Whether the handle is, or has been, a communicator with an attachment.
  bool is_known(MPI_Comm communicator);
  bool is_communicator(MPI_Comm communicator);
  static int forget(MPI_Comm communicator, int key, void* value, void* state);
  static int end(MPI_Comm communicator, int key, void* value, void* state);

  /// Those of communicators that have not been freed; none when the session is not open.
  static inline constinit RecentAttachments<MPI_Comm, Attachment> recent_;

  std::atomic<bool> is_open_{false};
  Settings settings_;
  Report report_;
  int attachment_key_ = MPI_KEYVAL_INVALID;
  int end_key_ = MPI_KEYVAL_INVALID;
  std::mutex mutex_;
  std::vector<Attachment*> attachments_;  // guarded by mutex_; in the order of their creation
  std::unordered_set<MPI_Comm> known_;    // what they are attached to; guarded by mutex_
  Attachment* retired_ = nullptr;         // guarded by mutex_; the first of a list
};

/// MPI_Finalize has been called: MPICH 4.2 ends with a signal when it is asked for texts of errors
/// from then on, by delete callbacks.
void note_finalize() noexcept;

/// Turns an error of hycoll's into MPI's: calls the communicator's error handler with a code whose
/// text is the error's, and returns the code if that returns.
int raise_error(MPI_Comm communicator, const Error& error);
/// The same of an error of this class.
int raise_error(MPI_Comm communicator, int error_class, std::string_view text);

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_SESSION_H_
