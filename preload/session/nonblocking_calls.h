#ifndef HYCOLL_PRELOAD_SESSION_NONBLOCKING_CALLS_H_
#define HYCOLL_PRELOAD_SESSION_NONBLOCKING_CALLS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "core/base/cache_lines.h"
#include "preload/session/pending_call.h"
#include "threading/execution/deferred_run.h"
#include "threading/memory/waiter.h"

namespace hycoll::preload {

/// Calls in a row, which takes no memory of its own: nothing is refused when one is added.
class CallRow {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  PendingCall* front() const noexcept { return first_; }

  void push_back(PendingCall* call) noexcept {
    call->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = call;
    last_ = call;
  }
  /// Takes the first one out; null if there is none.
  PendingCall* pop_front() noexcept {
    PendingCall* const call = first_;
    if (call != nullptr) first_ = call->next;
    return call;
  }

 private:
  PendingCall* first_ = nullptr;
  PendingCall* last_ = nullptr;  // if there is a first one
};

/// The nonblocking calls of one communicator, which are executed one after another, in the order in
/// which they were started; or the starts of one persistent call. Never destroyed, so that it may
/// be looked at without a lock. Any number of threads may use it, but calls are started by one
/// thread at a time.
class alignas(kSeparationBytes) CallQueue {
 public:
  /// Whether calls are there whose requests have not completed.
  bool is_busy() const noexcept { return pending_.load(std::memory_order_acquire) > 0; }

  /// Appends a call that has been made ready, and begins with it if it is the only one.
  void push(PendingCall* call);

  /// Goes on with the first calls, and completes the requests of those that are over, if nobody
  /// else is doing so. Calls MPI. Returns how many requests it has completed.
  int advance();

  /// What hycoll's own thread does from time to time: goes on with calls that nobody else goes on
  /// with, and looks for trouble, where what nobody waits for is not late. Completes no request, so
  /// that it need not call MPI.
  void look_after();

 private:
  friend class NonblockingCalls;
  bool try_acquire() noexcept;
  void acquire() noexcept;
  void release() noexcept;
  void advance_acquired();
  void end_first();

  std::atomic<int> pending_{0};  // requests that have not completed
  std::atomic<bool> is_acquired_{false};
  std::atomic<std::uint32_t> polls_{0};
  std::uint32_t polls_seen_ = 0;  // by hycoll's own thread
  bool is_taken_ = false;         // guarded by NonblockingCalls::mutex_
  WaitPolicy wait_policy_;        // set when it is taken
  // Used by whoever has acquired the queue.
  CallRow waiting_;  // the first one is being executed
  CallRow over_;     // their requests are to be completed
};

/// All nonblocking calls of this process that hycoll serves. Thread-safe.
class NonblockingCalls final : public LookedAfter {
 public:
  /// The process's only one.
  static NonblockingCalls& instance() noexcept;

  /// Whether requests are there that have not completed.
  bool is_busy() const noexcept { return pending_.load(std::memory_order_relaxed) > 0; }

  /// What waits for them do.
  WaitPolicy::Rest rest() const noexcept { return rest_.load(std::memory_order_relaxed); }

  /// A queue whose calls are waited for as the policy says.
  CallQueue& take_queue(const WaitPolicy& policy);
  /// Requires that its calls have completed.
  void give_back(CallQueue& queue) noexcept;

  /// Makes the request of a call that is ready, and starts it. Returns MPI's error code.
  int start(std::unique_ptr<NonblockingCall> call, MPI_Request* request);

  /// Starts a call that is ready and has its request. The queue is one of its owners from now on.
  void begin(PendingCall& call);

  /// Goes on with all calls. The MPI library calls it when a thread waits or tests for requests.
  /// Returns how many requests it has completed.
  int poll();

  /// Returns when the requests of all calls of the queue have completed.
  void finish(CallQueue& queue);
  /// Returns when this one has.
  void finish(const NonblockingCall& call);
  /// Returns when all have, also those whose communicators the program has freed.
  void finish_all();
  /// Returns when no start of a persistent call is under way.
  void finish_persistent();

  /// Ends hycoll's own thread. No call may be under way.
  void close() noexcept;

  bool is_under_way() const noexcept override;
  void look_after() override;

 private:
  friend class CallQueue;
  /// Queues that are looked at without a lock, and so stay where they are. More follow.
  struct QueueBlock {
    static constexpr std::size_t kQueueCount = 64;
    std::array<CallQueue, kQueueCount> queues;
    std::atomic<std::size_t> end{0};  // no queue from here on has been used
    std::atomic<QueueBlock*> next{nullptr};
  };
  NonblockingCalls() = default;
  /// What goes on with calls that the program leaves alone.
  ProgressKeeper& keeper();
  /// Calls visit(queue) for every queue that has been used.
  template <class Visit>
  void for_each_queue(const Visit& visit);
  template <class Predicate>
  void wait_until(const WaitPolicy& policy, const Predicate& is_over);

  QueueBlock queues_;
  std::atomic<int> pending_{0};                                 // requests that have not completed
  std::atomic<int> under_way_{0};                               // calls that are not over
  std::atomic<WaitPolicy::Rest> rest_{WaitPolicy::Rest::naps};  // orders nothing
  std::mutex mutex_;
  std::optional<ProgressKeeper> keeper_;  // guarded by mutex_ while it is made
  std::atomic<ProgressKeeper*> watching_{nullptr};
};

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_NONBLOCKING_CALLS_H_
