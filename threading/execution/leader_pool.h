#ifndef HYCOLL_THREADING_EXECUTION_LEADER_POOL_H_
#define HYCOLL_THREADING_EXECUTION_LEADER_POOL_H_

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "numa/topology/topology.h"
#include "threading/execution/deferred_run.h"
#include "threading/execution/executor.h"
#include "threading/execution/run_failure.h"

namespace hycoll {

/// One collective call that pool threads work on: each runs its worker's program, or finishes a run
/// that somebody else has started.
class PoolJob {
 public:
  /// What every thread calls before its part. It may wait for jobs that have been handed in before
  /// this one; what it throws ends the part.
  using Before = std::function<void()>;

  /// `programs[w]` is worker w's program; they must outlive the job. `thread_count` threads of the
  /// pool run parts of it.
  PoolJob(std::span<const Program> programs, const CallArguments& arguments, int thread_count,
          Before before = {})
      : programs_(programs),
        arguments_(arguments),
        before_(std::move(before)),
        parts_left_(thread_count) {
    arguments_.hurried = &hurried_;
  }

  /// The same with a function in place of the programs, called with the worker's number.
  using Body = std::function<void(int, const CallArguments&)>;
  PoolJob(Body body, const CallArguments& arguments, int thread_count, Before before = {})
      : arguments_(arguments),
        before_(std::move(before)),
        body_(std::move(body)),
        parts_left_(thread_count) {
    arguments_.hurried = &hurried_;
  }

  /// Finishes a deferred run, in one part.
  explicit PoolJob(DeferredRun& deferred) : deferred_(&deferred), parts_left_(1) {}

  /// Whether all parts have been run. Acquires what they wrote.
  bool finished() const noexcept { return parts_left_.load(std::memory_order_acquire) == 0; }

  /// Somebody waits for the job from now on, so its threads should too.
  void hurry() const noexcept { hurried_.store(true, std::memory_order_relaxed); }

  /// Returns when finished(). Hurries the job. Does not spin for long: the core may be needed by
  /// the pool.
  void wait() const;

  /// What it has failed with: the first of its parts, rather in the job's own run than in an
  /// earlier one. Requires finished().
  std::optional<RunFailure> failure() const;

  /// Throws failure(), if there is one.
  void throw_if_failed() const;

 private:
  friend class LeaderPool;
  void run_part(int worker, WorkerExecutor& executor) noexcept;
  void note(const RunFailure& failure) noexcept;

  std::span<const Program> programs_;
  CallArguments arguments_;
  Before before_;
  Body body_;
  DeferredRun* deferred_ = nullptr;
  mutable std::atomic<bool> hurried_{false};
  std::atomic<int> parts_left_;
  mutable std::mutex error_mutex_;
  std::optional<RunFailure> error_;  // guarded by error_mutex_
};

/// Pinned threads, one per worker of a node. Each runs the parts handed to it one after another, in
/// order, and sleeps when there are none.
class LeaderPool {
 public:
  enum class Pinning { pinned, unpinned };

  /// Starts no thread yet: each starts with its first part. `executors[w]` is used by thread w
  /// only, or by whoever has made sure that the thread is idle. `cores[w]` is where thread w is
  /// bound.
  LeaderPool(std::span<const std::unique_ptr<WorkerExecutor>> executors, const Topology& topology,
             std::vector<Core> cores, Pinning pinning, WaitPolicy wait_policy);

  /// Waits for everything handed in, then ends the threads.
  ~LeaderPool();
  LeaderPool(const LeaderPool&) = delete;
  LeaderPool& operator=(const LeaderPool&) = delete;

  /// Hands the parts of workers first_worker..last_worker of a job to their threads. One caller at
  /// a time for each worker. Throws what the system refuses (std::bad_alloc, std::system_error);
  /// then no part has been handed in.
  void submit(const std::shared_ptr<PoolJob>& job, int first_worker, int last_worker);

  /// The parts of a job for which everything is there that handing them in takes.
  struct Parts {
    std::list<std::shared_ptr<PoolJob>> jobs;  ///< One for each worker.
    int first_worker = 0;
  };

  /// The two halves of submit(): the first one throws what the system refuses, the second one takes
  /// the parts, and nothing is refused.
  Parts make_ready(const std::shared_ptr<PoolJob>& job, int first_worker, int last_worker);
  void hand_in(Parts& parts) noexcept;

 private:
  struct Thread {
    std::mutex mutex;
    std::list<std::shared_ptr<PoolJob>> jobs;  // guarded by mutex
    std::atomic<std::uint32_t> submitted{0};   // parts handed in, for waiting
    std::thread thread;
  };

  void thread_main(int worker);
  std::shared_ptr<PoolJob> next_job(Thread& thread, std::uint32_t taken);

  std::span<const std::unique_ptr<WorkerExecutor>> executors_;
  const Topology& topology_;
  std::vector<Core> cores_;
  Pinning pinning_;
  WaitPolicy wait_policy_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_EXECUTION_LEADER_POOL_H_
