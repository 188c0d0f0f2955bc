#ifndef HYCOLL_PRELOAD_SESSION_PERSISTENT_CALLS_H_
#define HYCOLL_PRELOAD_SESSION_PERSISTENT_CALLS_H_

#include <mpi.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "preload/session/pending_call.h"

namespace hycoll::preload {

/// A collective that the program has set up with hycoll, and starts again and again.
///
/// Its request is a persistent receive of the MPI library's, of no bytes, from this process itself,
/// on a communicator of hycoll's: so whatever waits or tests takes it, and it is inactive between
/// starts. When a start's call is over, hycoll sends what is received. The program owns the call
/// until it frees the request. Its starts wait for no other calls, nor others for them, so it has a
/// queue of its own.
class PersistentCall final : public PendingCall {
 public:
  PersistentCall(Attachment& attachment, Routine its_routine, MPI_Comm its_communicator);
  ~PersistentCall() override;

  /// What is to be done before each start, e.g. to copy what hycoll's call does not find where the
  /// program has it; empty: nothing.
  std::function<void()> before_start;

  /// Starts it by its request. Returns MPI's error code.
  int start(MPI_Request* request);

  void tell_completion() override;

 private:
  friend class PersistentCalls;
  /// Whether a start has not completed, or is just being told to have; and whether the program has
  /// freed the request meanwhile.
  enum class Start { none, under_way, told, given_up };

  static constexpr int kNoTag = -1;

  MPI_Request request_ = MPI_REQUEST_NULL;
  int tag_ = kNoTag;  // the request's own
  std::atomic<Start> start_{Start::none};
};

/// All persistent calls of this process that hycoll serves, by their requests. Thread-safe.
class PersistentCalls {
 public:
  /// The process's only one.
  static PersistentCalls& instance() noexcept;

  /// The call of a request; null for those of the MPI library's, at once if there are no others.
  static PersistentCall* find(MPI_Request request) {
    // What this thread may start it has seen being set up.
    if (count_.load(std::memory_order_relaxed) == 0) [[likely]]
      return nullptr;
    return instance().find_listed(request);
  }

  /// Whether starts are under way.
  static bool are_under_way() noexcept { return under_way_.load(std::memory_order_relaxed) > 0; }

  /// Makes the request of a call that has been set up. Throws Error.
  MPI_Request add(std::unique_ptr<PersistentCall> call);

  /// Frees the request of a call, which the program gives up. Returns MPI's error code.
  int free(PersistentCall& call, MPI_Request* request);

  /// Waits for the end of all starts, and frees all that the program has left. Before the end of
  /// their communicators.
  void close() noexcept;

 private:
  friend class PersistentCall;
  PersistentCalls() = default;
  PersistentCall* find_listed(MPI_Request request);
  /// The request may soon be another one's. Returns whether it was the call's still.
  bool unlist(MPI_Request request, const PersistentCall& call);
  /// hycoll's communicator of this process alone, made when it is needed first; its errors are
  /// returned. Requires mutex_.
  MPI_Comm own_communicator();
  void give_back(int tag);

  static inline constinit std::atomic<int> count_{0};
  static inline constinit std::atomic<int> under_way_{0};

  std::mutex mutex_;
  std::unordered_map<MPI_Request, PersistentCall*> calls_;  // guarded by mutex_
  std::vector<int> free_tags_;                              // guarded by mutex_
  int next_tag_ = 0;                                        // guarded by mutex_
  std::atomic<MPI_Comm> communicator_{MPI_COMM_NULL};       // written under mutex_
};

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_PERSISTENT_CALLS_H_
