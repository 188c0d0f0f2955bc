#ifndef HYCOLL_COLLECTIVES_RUNS_DRIVEN_RUN_H_
#define HYCOLL_COLLECTIVES_RUNS_DRIVEN_RUN_H_

#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "collectives/runs/call_runs.h"
#include "threading/execution/executor.h"
#include "threading/execution/leader_pool.h"
#include "threading/execution/run_failure.h"
#include "threading/memory/waiter.h"

namespace hycoll {

/// The execution of a call that goes on when its owner asks for it, and never waits. Used by one
/// thread at a time.
class DrivenRun {
 public:
  using Progress = WorkerExecutor::Progress;

  DrivenRun() = default;
  virtual ~DrivenRun() = default;
  DrivenRun(const DrivenRun&) = delete;
  DrivenRun& operator=(const DrivenRun&) = delete;

  /// Does what can be done now. When it has finished, what the call has met is known to its runs.
  /// Everything that it takes is there before.
  virtual Progress advance() noexcept = 0;

  /// As WorkerExecutor::look_for_trouble.
  virtual void look_for_trouble(Waiter& waiter) = 0;

  /// Whether it executes the call's runs once more when they have been started again after the end.
  virtual bool may_repeat() const noexcept = 0;
};

/// Programs of one worker, one after another. If one of them fails, those that follow fail with it:
/// other members may have left the one that failed, and wait in the next.
class ExecutorRun {
 public:
  using Progress = WorkerExecutor::Progress;

  explicit ExecutorRun(WorkerExecutor& executor) noexcept : executor_(executor) {}
  virtual ~ExecutorRun() = default;
  ExecutorRun(const ExecutorRun&) = delete;
  ExecutorRun& operator=(const ExecutorRun&) = delete;

  /// Does what can be done now. When the programs have been executed it has finished, or throws the
  /// RunFailure that they have met, and must not be asked again.
  Progress advance() {
    return go_on([this] { return executor_.advance(); });
  }

  /// Returns when the plan has been executed.
  void finish() {
    go_on([this] {
      executor_.finish();
      return Progress::finished;
    });
  }

  void look_for_trouble(Waiter& waiter) {
    if (is_under_way_) executor_.look_for_trouble(waiter);
  }

  /// Starts the executor's next run; false if there is none.
  virtual bool start_next() = 0;

 protected:
  WorkerExecutor& executor() noexcept { return executor_; }
  /// Whether one of the programs has.
  bool has_failed() const noexcept { return failure_.has_value(); }
  /// What has been met between programs: by this worker only.
  void note(const RunFailure& failure) {
    if (!failure_) failure_ = failure;
  }

 private:
  /// `advance_program()` goes on with the program under way.
  template <class AdvanceProgram>
  Progress go_on(const AdvanceProgram& advance_program) {
    bool has_advanced = false;
    while (goes_on(failure_) && (is_under_way_ || begin_next())) {
      try {
        const Progress progress = advance_program();
        if (progress != Progress::finished) return has_advanced ? Progress::advanced : progress;
      } catch (const RunFailure& met) {
        failure_ = met;
      }
      is_under_way_ = false;
      has_advanced = true;
    }
    if (failure_) throw RunFailure(*failure_);
    return Progress::finished;
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

/// A call's runs by one worker. `Starter` has
///   ExecutorRun& start(const CallRun&);  makes the execution of a run; asks for no memory
template <class Starter>
class RunsByOne final : public DrivenRun {
 public:
  template <class... Arguments>
  explicit RunsByOne(CallRuns& runs, Arguments&&... arguments)
      : runs_(runs), starter_(std::forward<Arguments>(arguments)...) {}

  Progress advance() noexcept override {
    bool has_advanced = false;
    while (run_ != nullptr || begin_next()) {
      try {
        const Progress progress = run_->advance();
        if (progress != Progress::finished) return has_advanced ? Progress::advanced : progress;
      } catch (const std::exception&) {
        runs_.note(handled_failure());
      }
      run_ = nullptr;
      has_advanced = true;
    }
    return Progress::finished;
  }

  void look_for_trouble(Waiter& waiter) override {
    if (run_ != nullptr) run_->look_for_trouble(waiter);
  }

  bool may_repeat() const noexcept override { return true; }

 private:
  bool begin_next() {
    const CallRun* const next = runs_.next();
    if (next == nullptr) return false;
    run_ = &starter_.start(*next);
    return true;
  }

  CallRuns& runs_;
  Starter starter_;
  ExecutorRun* run_ = nullptr;
};

/// What a pool's threads execute by themselves, from the first advance on.
class PoolRun final : public DrivenRun {
 public:
  PoolRun(LeaderPool& pool, std::shared_ptr<PoolJob> job, LeaderPool::Parts parts)
      : pool_(pool), job_(std::move(job)), parts_(std::move(parts)) {
    job_->hurry();
  }

  Progress advance() noexcept override {
    if (!parts_.jobs.empty()) pool_.hand_in(parts_);
    return job_->finished() ? Progress::finished : Progress::blocked;
  }

  /// Its threads do.
  void look_for_trouble(Waiter& /*waiter*/) override {}

  /// A job of the pool's is over when it has ended.
  bool may_repeat() const noexcept override { return false; }

 private:
  LeaderPool& pool_;
  std::shared_ptr<PoolJob> job_;
  LeaderPool::Parts parts_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_DRIVEN_RUN_H_
