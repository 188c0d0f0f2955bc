#ifndef HYCOLL_THREADING_EXECUTION_DEFERRED_RUN_H_
#define HYCOLL_THREADING_EXECUTION_DEFERRED_RUN_H_

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "threading/execution/executor.h"
#include "threading/execution/run_failure.h"

namespace hycoll {

/// What a deferred run leaves behind for whoever has started it.
struct DeferredOutcome {
  std::atomic<bool> finished{false};
  std::optional<RunFailure> error;  ///< Valid once finished.
};

/// What goes on by itself only while somebody looks at it.
class LookedAfter {
 public:
  virtual ~LookedAfter() = default;

  /// Whether there is anything to go on with. Sequentially consistent with what makes it so.
  virtual bool is_under_way() const noexcept = 0;

  /// Goes on, unless somebody else has been doing so lately or is doing so now. A keeper calls this
  /// about once per millisecond while something is under way; where waits sleep, less often if a
  /// look takes more than some microseconds.
  virtual void look_after() = 0;
};

/// A worker's program that its caller starts, does as much of as it can without waiting, and goes
/// on with when it asks for the result: short calls are over sooner than another thread could be
/// woken for them. A ProgressKeeper goes on with runs that their callers leave alone.
///
/// All functions but finished() are called by the worker's owner and by the keeper; a mutex decides
/// who uses the executor.
class DeferredRun final : public LookedAfter {
 public:
  explicit DeferredRun(WorkerExecutor& executor) : executor_(executor) {}

  /// Starts a run. Requires that the last one has finished, and that nobody else uses the executor
  /// until this one has. The outcome must outlive the run.
  void start(const Program& program, const CallArguments& arguments, DeferredOutcome& outcome);

  /// Whether the last run has finished, and nobody uses the executor; acquires what it wrote.
  bool finished() const noexcept { return !under_way_.load(std::memory_order_acquire); }

  /// Does what can be done now, unless somebody else is doing so.
  void advance();

  /// Returns when the run has finished.
  void finish();

  bool is_under_way() const noexcept override { return under_way_.load(std::memory_order_seq_cst); }

  /// Goes on with a run that was already under way at the last look.
  void look_after() override;

 private:
  /// Goes on; whether the run has finished.
  bool finishes_now();
  void advance_locked();
  /// The keeper's turn: also looks for failures, for mismatches, and for members that are missing.
  void look_after_locked();
  void end_locked();

  WorkerExecutor& executor_;
  std::mutex mutex_;
  Waiter waiter_{WaitPolicy{}};            // since the keeper looks after this run, or its last
                                           // progress
  DeferredOutcome* outcome_ = nullptr;     // valid while a run is under way
  std::atomic<std::uint64_t> started_{0};  // runs; the keeper tells by it whether one is left alone
  std::uint64_t seen_ = 0;                 // the run at the keeper's last look
  std::atomic<bool> under_way_{false};
};

/// A thread that looks after calls from time to time, so that a process makes progress in
/// its collectives whatever it does meanwhile (MPI's progress rule). Sleeps while there are none.
class ProgressKeeper {
 public:
  /// Starts no thread yet. The calls must outlive the keeper. `rest`: that of the calls' waits.
  explicit ProgressKeeper(std::vector<LookedAfter*> calls,
                          WaitPolicy::Rest rest = WaitPolicy::Rest::seldom)
      : calls_(std::move(calls)), rest_(rest) {}
  ~ProgressKeeper();
  ProgressKeeper(const ProgressKeeper&) = delete;
  ProgressKeeper& operator=(const ProgressKeeper&) = delete;

  /// After a call has been started that has not finished. May be called by several threads. If the
  /// system refuses the keeper its thread, the call goes on only when it is asked for.
  void watch() noexcept;

 private:
  enum class Sleep : int { none, deep };
  void thread_main();
  bool look_after_calls();
  bool any_under_way() const;

  std::vector<LookedAfter*> calls_;
  WaitPolicy::Rest rest_;
  std::atomic<Sleep> sleep_{Sleep::deep};
  std::atomic<bool> stop_{false};
  std::once_flag started_;
  std::thread thread_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_EXECUTION_DEFERRED_RUN_H_
