#ifndef HYCOLL_COLLECTIVES_CALLS_DRIVEN_RUN_H_
#define HYCOLL_COLLECTIVES_CALLS_DRIVEN_RUN_H_

#include <memory>
#include <optional>
#include <utility>

#include "threading/execution/executor.h"
#include "threading/execution/leader_pool.h"
#include "threading/execution/run_failure.h"
#include "threading/memory/waiter.h"

namespace hycoll {

/// The execution of a plan that goes on when its owner asks for it, and never waits. Used by one
/// thread at a time.
class DrivenRun {
 public:
  DrivenRun() = default;
  virtual ~DrivenRun() = default;
  DrivenRun(const DrivenRun&) = delete;
  DrivenRun& operator=(const DrivenRun&) = delete;

  /// Does what can be done now. Returns whether the plan has been executed; throws the RunFailure
  /// that it has met, and must not be asked again after either.
  virtual bool advance() = 0;

  /// As WorkerExecutor::look_for_trouble.
  virtual void look_for_trouble(Waiter& waiter) = 0;
};

/// Programs of one worker, one after another. If one of them fails, those that follow fail with it:
/// other members may have left the one that failed, and wait in the next.
class ExecutorRun : public DrivenRun {
 public:
  explicit ExecutorRun(WorkerExecutor& executor) noexcept : executor_(executor) {}

  bool advance() final {
    return go_on([this] { return executor_.advance() == WorkerExecutor::Progress::finished; });
  }

  /// Returns when the plan has been executed.
  void finish() {
    go_on([this] {
      executor_.finish();
      return true;
    });
  }

  void look_for_trouble(Waiter& waiter) final {
    if (is_under_way_) executor_.look_for_trouble(waiter);
  }

  /// Starts the executor's next run; false if there is none.
  virtual bool start_next() = 0;

 protected:
  WorkerExecutor& executor() noexcept { return executor_; }

 private:
  /// `has_finished()` says of the program under way whether it has.
  template <class HasFinished>
  bool go_on(const HasFinished& has_finished) {
    while (goes_on(failure_) && (is_under_way_ || begin_next())) {
      try {
        if (!has_finished()) return false;
      } catch (const RunFailure& met) {
        failure_ = met;
      }
      is_under_way_ = false;
    }
    if (failure_) throw RunFailure(*failure_);
    return true;
  }

  bool begin_next() {
    is_under_way_ = start_next();
    if (is_under_way_ && failure_) executor_.fail(*failure_);
    return is_under_way_;
  }

  WorkerExecutor& executor_;
  bool is_under_way_ = false;
  std::optional<RunFailure> failure_;
};

/// One program.
class SingleRun final : public ExecutorRun {
 public:
  SingleRun(WorkerExecutor& executor, const Program& program, const CallArguments& arguments)
      : ExecutorRun(executor), program_(&program), arguments_(arguments) {}

  bool start_next() override {
    if (program_ == nullptr) return false;
    executor().start(*std::exchange(program_, nullptr), arguments_);
    return true;
  }

 private:
  const Program* program_;
  CallArguments arguments_;
};

/// What a pool's threads execute by themselves.
class PoolRun final : public DrivenRun {
 public:
  explicit PoolRun(std::shared_ptr<PoolJob> job) : job_(std::move(job)) { job_->hurry(); }

  bool advance() override {
    if (!job_->finished()) return false;
    job_->throw_if_failed();
    return true;
  }

  /// Its threads do.
  void look_for_trouble(Waiter& /*waiter*/) override {}

 private:
  std::shared_ptr<PoolJob> job_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_DRIVEN_RUN_H_
