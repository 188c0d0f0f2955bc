#ifndef HYCOLL_PRELOAD_SESSION_PENDING_CALL_H_
#define HYCOLL_PRELOAD_SESSION_PENDING_CALL_H_

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/api/hycoll.h"
#include "core/base/errors.h"
#include "preload/session/routine.h"

namespace hycoll::preload {

class Attachment;
class CallQueue;

/// Lists that a call of hycoll's refers to.
struct CallLists {
  std::vector<std::size_t> counts;
  std::vector<std::ptrdiff_t> displacements;
};

/// A call of the program's under way in hycoll beside the program, which has a request for it.
/// Belongs to its queue until the request has completed, and to whoever else may ask for it;
/// deleted by the last owner that gives it up. It owns what serves it, for the program may free the
/// communicator before.
class PendingCall {
 public:
  PendingCall(Attachment& attachment, CallQueue& its_queue, Routine its_routine,
              MPI_Comm its_communicator) noexcept;
  virtual ~PendingCall();
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;

  Routine routine;
  MPI_Comm communicator;  ///< The program's, which may have freed it.
  CallQueue& queue;
  CallLists lists;
  DrivenCall call;

  // For the report, if there is one.
  std::size_t size_bytes = 0;
  std::string algorithm;
  std::chrono::steady_clock::time_point start_time;

  PendingCall* next = nullptr;  ///< In one of its queue's rows.

  /// After the call: puts its result where the program wants it, and keeps the Error that it has
  /// met.
  void deliver();

  /// Completes the program's request, after that.
  virtual void tell_completion() = 0;

  /// One more owner, or one less.
  void own() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }  // by an owner
  void give_up();

 protected:
  /// Calls the error handler of the communicator, or, if the program has freed that, of
  /// MPI_COMM_SELF. Returns the code.
  int raise(const Error& met) const;

  std::optional<Error> error_;  ///< What the call has met; valid once it has been delivered.

 private:
  Attachment& attachment_;
  std::atomic<int> owners_{1};
};

/// A nonblocking call, whose request is a generalized one of the MPI library's. That library owns
/// the call too, until the program has no request any more.
class NonblockingCall final : public PendingCall {
 public:
  using PendingCall::PendingCall;

  MPI_Request request = MPI_REQUEST_NULL;

  void tell_completion() override;
  bool is_complete() const noexcept { return is_complete_.load(std::memory_order_acquire); }

  /// What the MPI library asks for when the request is waited for: fills in the status, and returns
  /// the call's error code after calling the communicator's error handler.
  int answer(MPI_Status* status);

 private:
  int error_code_ = MPI_SUCCESS;
  std::atomic<bool> is_complete_{false};
};

/// How the program's MPI library lets a request be completed from inside of its own waiting: it
/// calls NonblockingCalls::poll() there.
/// Whether it does at all.
bool has_request_hooks();

/// From now on it does.
void install_request_hooks();

/// Makes the request of a call. Returns MPI's error code.
int start_request(NonblockingCall& call);

/// Whether it does in waits and tests for other requests too, such as those of persistent calls.
bool polls_for_persistent_calls() noexcept;

/// Whether the MPI library frees persistent requests of which it reports an error.
bool frees_failed_requests() noexcept;

/// Lets the MPI library go on with the program's messages, and its own nonblocking collectives.
void drive_network();

/// Before MPI ends: the library calls nothing any more.
void remove_request_hooks();

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_PENDING_CALL_H_
