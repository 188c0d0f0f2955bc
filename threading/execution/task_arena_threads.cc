// Threads that sleep until there is work, a set of them for each set of cores, for all arenas. A
// caller announces a job; whoever comes takes one part of it after another. The caller works too,
// and so waits for parts only that have been begun.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <system_error>

#include "core/base/errors.h"
#include "core/base/lifetime.h"
#include "numa/placement/binding.h"
#include "threading/execution/task_arena.h"
#include "threading/memory/quiet_thread.h"

namespace hycoll {
namespace {

using Part = std::function<void(std::size_t)>;

class Job {
 public:
  Job(std::size_t part_count, const Part& part, int helper_limit)
      : part_count_(part_count), part_(part), helper_limit_(helper_limit) {}

  bool wants_help() const noexcept {
    return helpers < helper_limit_ && next_.load(std::memory_order_relaxed) < part_count_;
  }

  /// Calls parts until there are no more. What they write is published by the helpers' mutex.
  std::exception_ptr work() noexcept {
    try {
      for (;;) {
        const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
        if (index >= part_count_) return nullptr;
        part_(index);
      }
    } catch (...) {
      next_.store(part_count_, std::memory_order_relaxed);
      return std::current_exception();
    }
  }

  // Guarded by the helpers' mutex.
  int helpers = 0;  ///< Those at work.
  std::exception_ptr failure;

 private:
  const std::size_t part_count_;
  const Part& part_;
  const int helper_limit_;
  std::atomic<std::size_t> next_{0};
};

/// The threads of one set of cores. Never destroyed: its threads sleep until the process ends.
class Helpers {
 public:
  static Helpers& on(const Topology& topology, const AffinityMask& cores) {
    static std::mutex mutex;
    static Immortal<std::map<std::string, Helpers*>> all;  // guarded by mutex
    const std::lock_guard lock(mutex);
    Helpers*& helpers = (*all)[cores.to_string()];
    if (helpers == nullptr) helpers = new Helpers(topology, cores);
    return *helpers;
  }

  void run(int helper_limit, std::size_t part_count, const Part& part) {
    Job job(part_count, part, helper_limit);
    std::unique_lock lock(mutex_);
    start_threads(helper_limit);
    const auto place = jobs_.insert(jobs_.end(), &job);
    lock.unlock();
    wanted_.notify_all();
    std::exception_ptr failure = job.work();
    lock.lock();
    jobs_.erase(place);
    left_.wait(lock, [&] { return job.helpers == 0; });
    if (!failure) failure = job.failure;
    if (failure) std::rethrow_exception(failure);
  }

 private:
  Helpers(const Topology& topology, const AffinityMask& cores)
      : topology_(topology), cores_(cores) {}

  /// Requires the mutex. If the system refuses threads, there are fewer.
  void start_threads(int count) {
    try {
      for (; thread_count_ < count; ++thread_count_) {
        start_without_signals([this] { thread_main(); }).detach();
      }
    } catch (const std::system_error&) {
      return;
    }
  }

  void thread_main() {
    try {
      bind_this_thread(topology_, cores_);
    } catch (const Error&) {
      // A container may forbid binding; the thread then runs wherever the process may.
    }
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto wants_help = [](const Job* job) { return job->wants_help(); };
      auto place = jobs_.end();
      wanted_.wait(lock, [&] {
        place = std::find_if(jobs_.begin(), jobs_.end(), wants_help);
        return place != jobs_.end();
      });
      help(**place, lock);
    }
  }

  /// Requires, and keeps, the lock on the mutex, but not while it works.
  void help(Job& job, std::unique_lock<std::mutex>& lock) {
    ++job.helpers;
    lock.unlock();
    const std::exception_ptr failure = job.work();
    lock.lock();
    if (failure && !job.failure) job.failure = failure;
    if (--job.helpers == 0) left_.notify_all();
  }

  const Topology topology_;
  const AffinityMask cores_;
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::condition_variable left_;
  std::list<Job*> jobs_;  // guarded by mutex_
  int thread_count_ = 0;  // guarded by mutex_
};

AffinityMask cores_of(const Topology& topology, int numa_domain) {
  AffinityMask mask;
  for (const NumaDomain& domain : topology.numa_domains()) {
    if (domain.os_index != numa_domain) continue;
    for (const int core : domain.cores) {
      for (const int unit : topology.processing_units(core)) mask.add(unit);
    }
  }
  return mask.empty() ? topology.affinity() : mask;
}

}  // namespace

struct TaskArena::Implementation {
  Helpers& helpers;
  int helper_count;
};

int TaskArena::maximum_helpers() { return std::numeric_limits<int>::max(); }

TaskArena::TaskArena(const Topology& topology, int helper_count, int numa_domain)
    : implementation_(
          new Implementation{.helpers = Helpers::on(topology, cores_of(topology, numa_domain)),
                             .helper_count = helper_count}) {}

TaskArena::~TaskArena() = default;

void TaskArena::run(std::size_t part_count, const Part& part) const {
  implementation_->helpers.run(implementation_->helper_count, part_count, part);
}

}  // namespace hycoll
