#ifndef HYCOLL_PRELOAD_SESSION_PENDING_CALL_H_
#define HYCOLL_PRELOAD_SESSION_PENDING_CALL_H_

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectives/api/hycoll.h"
#include "core/base/errors.h"
#include "preload/session/routine.h"

namespace hycoll::preload {

class CallQueue;

/// A nonblocking call of the program's under way in hycoll, and the generalized request by which
/// the program knows it. Belongs to two, and is deleted by the second that gives it up: to its
/// queue, until the request has completed, and to the MPI library, until the program has no request
/// any more.
struct PendingCall {
  Routine routine = Routine::iallreduce;
  MPI_Comm communicator = MPI_COMM_NULL;  ///< The program's.
  const CallQueue* queue = nullptr;
  std::uint64_t generation = 0;  ///< Of the queue; the communicator has been freed if it differs.
  std::vector<std::size_t> block_counts;
  std::vector<std::ptrdiff_t> displacements;
  DrivenCall call;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Datatype kept_type = MPI_DATATYPE_NULL;

  // For the report, if there is one.
  std::size_t size_bytes = 0;
  std::string algorithm;
  std::chrono::steady_clock::time_point start;

  std::optional<Error> error;  ///< What the call has met; valid once it is over.
  int error_code = MPI_SUCCESS;
  std::atomic<bool> is_complete{false};  ///< The request is.
  PendingCall* next = nullptr;           ///< In one of its queue's rows.

  /// The datatype, or a copy of it if the program may free it before the call has completed.
  MPI_Datatype keep(MPI_Datatype type);

  /// After the call: puts its result where the program wants it, and keeps the Error that it has
  /// met.
  void deliver();

  /// What the MPI library asks for when the request is waited for: fills in the status, and returns
  /// the call's error code after calling the communicator's error handler.
  int answer(MPI_Status* status);

  /// One of the two owners does without it.
  void give_up();

 private:
  std::atomic<int> owners_{2};
};

/// How the program's MPI library lets a request be completed from inside of its own waiting: it
/// calls NonblockingCalls::poll() there.
/// Whether it does at all.
bool has_request_hooks();

/// Makes the request of a call. Returns MPI's error code.
int start_request(PendingCall& call);

/// Lets the MPI library go on with the program's messages, and its own nonblocking collectives.
void drive_network();

/// Before MPI ends: the library calls nothing any more.
void remove_request_hooks();

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_PENDING_CALL_H_
