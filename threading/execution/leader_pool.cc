#include "threading/execution/leader_pool.h"

#include <exception>
#include <utility>

#include "core/base/errors.h"
#include "numa/placement/binding.h"

namespace hycoll {

void PoolJob::wait() const {
  hurry();
  Waiter waiter(WaitPolicy{});
  for (int left = parts_left_.load(std::memory_order_acquire); left != 0;
       left = parts_left_.load(std::memory_order_acquire)) {
    // Sleeps until the count changes; run_part notifies.
    if (waiter.turn()) parts_left_.wait(left, std::memory_order_acquire);
  }
}

std::optional<RunFailure> PoolJob::failure() const {
  const std::lock_guard lock(error_mutex_);
  return error_;
}

void PoolJob::throw_if_failed() const {
  if (const std::optional<RunFailure> met = failure()) throw RunFailure(*met);
}

void PoolJob::run_part(int worker, WorkerExecutor& executor) noexcept {
  try {
    if (before_) before_();
    if (deferred_ != nullptr) {
      deferred_->finish();
    } else if (body_) {
      body_(worker, arguments_);
    } else {
      executor.run(programs_[static_cast<std::size_t>(worker)], arguments_);
    }
  } catch (const std::exception&) {
    note(handled_failure());
  }
  // Pairs with the acquiring loads in finished() and wait(). Sequentially consistent, as in
  // hand_in().
  if (parts_left_.fetch_sub(1, std::memory_order_seq_cst) == 1) parts_left_.notify_all();
}

void PoolJob::note(const RunFailure& failure) noexcept {
  const std::lock_guard lock(error_mutex_);
  if (!error_ || error_->scope() == RunFailure::Scope::earlier_run) error_ = failure;
}

LeaderPool::LeaderPool(std::span<const std::unique_ptr<WorkerExecutor>> executors,
                       const Topology& topology, std::vector<Core> cores, Pinning pinning,
                       WaitPolicy wait_policy)
    : executors_(executors),
      topology_(topology),
      cores_(std::move(cores)),
      pinning_(pinning),
      wait_policy_(wait_policy) {
  for (std::size_t worker = 0; worker < executors.size(); ++worker) {
    threads_.push_back(std::make_unique<Thread>());
  }
}

LeaderPool::~LeaderPool() {
  for (const auto& thread : threads_) {
    if (!thread->thread.joinable()) continue;
    // A part that is counted but not in the queue ends the thread.
    thread->submitted.fetch_add(1, std::memory_order_seq_cst);  // as in hand_in()
    thread->submitted.notify_one();
    thread->thread.join();
  }
}

void LeaderPool::submit(const std::shared_ptr<PoolJob>& job, int first_worker, int last_worker) {
  Parts parts = make_ready(job, first_worker, last_worker);
  hand_in(parts);
}

LeaderPool::Parts LeaderPool::make_ready(const std::shared_ptr<PoolJob>& job, int first_worker,
                                         int last_worker) {
  Parts parts{.jobs = {}, .first_worker = first_worker};
  for (int worker = first_worker; worker <= last_worker; ++worker) {
    Thread& thread = *threads_[static_cast<std::size_t>(worker)];
    if (!thread.thread.joinable()) {
      thread.thread = std::thread([this, worker] { thread_main(worker); });
    }
    parts.jobs.push_back(job);
  }
  return parts;
}

void LeaderPool::hand_in(Parts& parts) noexcept {
  for (int worker = parts.first_worker; !parts.jobs.empty(); ++worker) {
    Thread& thread = *threads_[static_cast<std::size_t>(worker)];
    {
      const std::lock_guard lock(thread.mutex);
      thread.jobs.splice(thread.jobs.end(), parts.jobs, parts.jobs.begin());
    }
    // Pairs with the acquiring load in next_job. Sequentially consistent, as is the C++ library's
    // look at whether anybody waits: that must not come first.
    thread.submitted.fetch_add(1, std::memory_order_seq_cst);
    thread.submitted.notify_one();
  }
}

void LeaderPool::thread_main(int worker) {
  const auto index = static_cast<std::size_t>(worker);
  if (pinning_ == Pinning::pinned) {
    try {
      bind_this_thread(topology_, cores_[index]);
    } catch (const Error&) {
      // A container may forbid binding; the thread then runs wherever the process may.
    }
  }
  Thread& thread = *threads_[index];
  for (std::uint32_t taken = 0;; ++taken) {
    const std::shared_ptr<PoolJob> job = next_job(thread, taken);
    if (job == nullptr) return;
    job->run_part(worker, *executors_[index]);
  }
}

std::shared_ptr<PoolJob> LeaderPool::next_job(Thread& thread, std::uint32_t taken) {
  Waiter waiter(wait_policy_);
  while (thread.submitted.load(std::memory_order_acquire) == taken) {
    if (waiter.turn()) thread.submitted.wait(taken, std::memory_order_acquire);
  }
  const std::lock_guard lock(thread.mutex);
  if (thread.jobs.empty()) return nullptr;  // the end: see the destructor
  std::shared_ptr<PoolJob> job = std::move(thread.jobs.front());
  thread.jobs.pop_front();
  return job;
}

}  // namespace hycoll
