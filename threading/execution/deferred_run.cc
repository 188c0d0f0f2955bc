#include "threading/execution/deferred_run.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "threading/memory/quiet_thread.h"

namespace hycoll {
namespace {

/// How long a run may be left alone. Far above the time of a short call, far below what a user
/// notices.
constexpr std::chrono::milliseconds kInterval{1};
/// Looks without anything to do before the keeper sleeps until it is woken.
constexpr int kIdleLooks = 50;

}  // namespace

void DeferredRun::start(const Program& program, const CallArguments& arguments,
                        DeferredOutcome& outcome) {
  const std::lock_guard lock(mutex_);
  outcome.finished.store(false, std::memory_order_relaxed);
  outcome.error.reset();
  outcome_ = &outcome;
  waiter_.reset();
  started_.store(started_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  // Sequentially consistent, as are the keeper's store of sleep_ and its look at this one: either
  // the keeper sees the run before it falls asleep, or watch() sees that it sleeps.
  under_way_.store(true, std::memory_order_seq_cst);
  executor_.start(program, arguments);
  try {
    if (executor_.advance_blindly() != WorkerExecutor::Progress::finished) return;
  } catch (const std::exception&) {
    outcome_->error = handled_failure();
  }
  end_locked();
}

bool DeferredRun::finishes_now() {
  const WorkerExecutor::Progress progress = executor_.advance();
  if (progress == WorkerExecutor::Progress::advanced) waiter_.reset();
  return progress == WorkerExecutor::Progress::finished;
}

void DeferredRun::advance_locked() {
  try {
    if (!finishes_now()) return;
  } catch (const std::exception&) {
    outcome_->error = handled_failure();
  }
  end_locked();
}

void DeferredRun::look_after_locked() {
  try {
    if (!finishes_now()) {
      // No nap, for who waits for the run would wait for the end of it, too.
      executor_.look_for_trouble(waiter_);
      executor_.drive_transport();
      return;
    }
  } catch (const std::exception&) {
    outcome_->error = handled_failure();
  }
  end_locked();
}

void DeferredRun::look_after() {
  const std::uint64_t number = started_.load(std::memory_order_relaxed);
  const bool is_left_alone = seen_ == number;
  seen_ = number;
  if (!is_left_alone) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && !finished()) look_after_locked();
}

void DeferredRun::end_locked() {
  // Pairs with the acquiring loads of who has started the run. It may be gone after this.
  outcome_->finished.store(true, std::memory_order_release);
  // Pairs with the acquiring load in finished().
  under_way_.store(false, std::memory_order_release);
}

void DeferredRun::advance() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && !finished()) advance_locked();
}

void DeferredRun::finish() {
  if (finished()) return;
  const std::lock_guard lock(mutex_);
  if (finished()) return;
  try {
    executor_.finish();
  } catch (const std::exception&) {
    outcome_->error = handled_failure();
  }
  end_locked();
}

ProgressKeeper::~ProgressKeeper() {
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_seq_cst);
  sleep_.store(Sleep::none, std::memory_order_seq_cst);
  sleep_.notify_one();
  thread_.join();
}

void ProgressKeeper::watch() noexcept {
  if (sleep_.load(std::memory_order_seq_cst) == Sleep::none) return;
  sleep_.store(Sleep::none, std::memory_order_seq_cst);
  try {
    std::call_once(started_,
                   [this] { thread_ = start_without_signals([this] { thread_main(); }); });
  } catch (const std::exception&) {
    sleep_.store(Sleep::deep, std::memory_order_seq_cst);  // the next call tries again
    return;
  }
  sleep_.notify_one();
}

bool ProgressKeeper::any_under_way() const {
  return std::ranges::any_of(calls_, [](const LookedAfter* call) { return call->is_under_way(); });
}

bool ProgressKeeper::look_after_calls() {
  bool any = false;
  for (LookedAfter* const call : calls_) {
    if (!call->is_under_way()) continue;
    any = true;
    call->look_after();
  }
  return any;
}

void ProgressKeeper::thread_main() {
  int idle_looks = 0;
  SleepLength length;
  while (!stop_.load(std::memory_order_seq_cst)) {
    std::chrono::nanoseconds interval = kInterval;
    if (rest_ == WaitPolicy::Rest::sleep) {
      interval = std::max(interval, length.next(SleepLength::kWoken));
    }
    std::this_thread::sleep_for(interval);
    idle_looks = look_after_calls() ? 0 : idle_looks + 1;
    if (idle_looks < kIdleLooks) continue;
    idle_looks = 0;
    sleep_.store(Sleep::deep, std::memory_order_seq_cst);
    if (any_under_way() || stop_.load(std::memory_order_seq_cst)) {
      sleep_.store(Sleep::none, std::memory_order_relaxed);
      continue;
    }
    sleep_.wait(Sleep::deep, std::memory_order_acquire);
  }
}

}  // namespace hycoll
