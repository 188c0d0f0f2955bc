#ifndef HYCOLL_THREADING_TRANSPORT_UCX_UCX_WORKER_H_
#define HYCOLL_THREADING_TRANSPORT_UCX_UCX_WORKER_H_

#include <ucp/api/ucp.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "threading/transport/ucx/ucx_context.h"

namespace hycoll {

/// A worker of UCX with its connections: what one lane sends and receives through, driven by one
/// thread at a time without a lock. Making one takes milliseconds and megabytes, so lanes that end
/// hand theirs on to lanes of other communicators.
class UcxWorker {
 public:
  /// How long what is under way may take to end in good order.
  static constexpr std::chrono::seconds kPatience{1};

  /// A way to another worker. Lives as long as this worker.
  struct Connection {
    UcxWorker* worker = nullptr;
    ucp_ep_h handle = nullptr;
    bool is_over_tcp = false;
    ucs_status_t status = UCS_OK;  ///< what it ended with
    std::chrono::steady_clock::time_point ended_at;
  };

  struct HandOn {
    void operator()(UcxWorker* worker) const noexcept;
  };
  /// Hands the worker on in its end, whatever that end is: a worker that is closed instead costs
  /// its peers a connection that stays. Nothing may be under way on it then. Any thread.
  using Handle = std::unique_ptr<UcxWorker, HandOn>;

  /// One that has been handed on, or a new one. Throws Error (environment). Any thread.
  static Handle take(const UcxContext& context);
  /// For a worker that cannot be handed on, or that nobody is going to use.
  static void close(Handle worker) { delete worker.release(); }

  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;

  const UcxLibrary& ucx() const noexcept { return context_->library(); }
  ucp_worker_h handle() const noexcept { return handle_.get(); }
  /// By which others connect to it.
  std::span<const std::byte> address() const noexcept { return address_; }
  /// How many of the connections have ended.
  int ended_count() const noexcept { return ended_count_; }
  void progress() { ucx().worker_progress(handle()); }

  /// To be held by whoever uses the worker or its connections, one thread at a time: keeps the
  /// caretaker away. Costs nothing as long as the worker needs none.
  [[nodiscard]] std::unique_lock<std::mutex> use() {
    return may_hold_back_ ? use_against_caretaker() : std::unique_lock<std::mutex>();
  }

  enum class Care { in_use, left, not_needed };
  /// Drives the worker if its user has left it, until nothing of it is with this side any more. By
  /// the caretaker, who need not come again before the next use then.
  Care look_after();

  /// The connection to the worker with this address, made if there is none yet. Of workers on the
  /// same machine it does not tell when they end, which the launcher does: UCX 1.13 does not use
  /// shared memory for connections that shall tell. Throws Error (environment).
  Connection& connection_to(std::span<const std::byte> address, bool is_on_this_machine);

  /// Waits, for kPatience at most, until all that was started has left. Returns whether it has.
  bool flush();

 private:
  struct Idle;

  explicit UcxWorker(const UcxContext& context);
  bool is_over_tcp(ucp_ep_h connection) const;
  std::unique_lock<std::mutex> use_against_caretaker();
  bool have_left(std::span<const ucs_status_ptr_t> requests) const;
  static void on_end(void* connection, ucp_ep_h handle, ucs_status_t status);
  /// Whether they are over within kPatience; frees those that are.
  bool await(std::span<const ucs_status_ptr_t> requests);

  struct Destroy {
    const UcxLibrary& ucx;
    void operator()(ucp_worker_h worker) const { ucx.worker_destroy(worker); }
  };

  std::unique_ptr<UcxWorker> next_idle_;  // guarded by the mutex of idle workers
  const UcxContext* context_;
  std::unique_ptr<std::remove_pointer_t<ucp_worker_h>, Destroy> handle_;
  std::vector<std::byte> address_;
  std::unordered_map<std::string, Connection> connections_;  // by address and kind
  int ended_count_ = 0;
  /// Whether messages that have been sent, for UCX, may still need this side.
  bool may_hold_back_ = false;
  bool has_caretaker_ = false;

  std::mutex use_;
  std::atomic<std::uint64_t> use_count_{0};
  std::atomic<bool> is_looked_after_{false};
  std::uint64_t last_use_count_ = 0;       // that the caretaker has seen
  bool is_flush_old_ = false;              // by the caretaker: there has been a use since
  std::vector<ucs_status_ptr_t> leaving_;  // guarded by use_; what the caretaker waits for
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_UCX_UCX_WORKER_H_
