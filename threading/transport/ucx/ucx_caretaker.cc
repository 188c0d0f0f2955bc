#include "threading/transport/ucx/ucx_caretaker.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "core/base/lifetime.h"
#include "threading/memory/quiet_thread.h"
#include "threading/transport/ucx/ucx_worker.h"

namespace hycoll {
namespace {

/// Between looks. A worker that has not been used for one has been left.
constexpr std::chrono::milliseconds kShortNap{4};
constexpr std::chrono::milliseconds kLongNap{64};

}  // namespace

UcxCaretaker& UcxCaretaker::instance() {
  static Immortal caretaker([] { return UcxCaretaker(); });
  return *caretaker;
}

UcxCaretaker::UcxCaretaker() : process_(getpid()) {
  start_without_signals([this] { work(); }).detach();
  // UCX, which was loaded before, puts itself away after that.
  std::atexit([] { instance().stop(); });
}

void UcxCaretaker::stop() {
  if (getpid() != process_) return;  // a fork's child has no thread
  const std::scoped_lock lock(mutex_);
  is_over_ = true;
}

void UcxCaretaker::take(UcxWorker& worker) {
  const std::scoped_lock lock(mutex_);
  workers_.push_back(&worker);
}

void UcxCaretaker::leave(UcxWorker& worker) {
  const std::scoped_lock lock(mutex_);
  std::erase(workers_, &worker);
}

void UcxCaretaker::wake() {
  {
    const std::scoped_lock lock(mutex_);
    is_woken_ = true;
  }
  woken_.notify_one();
}

void UcxCaretaker::work() {
  std::unique_lock lock(mutex_);
  std::chrono::milliseconds nap = kShortNap;
  while (!is_over_) {
    bool is_any_in_use = false;
    bool is_any_left = false;
    for (UcxWorker* const worker : workers_) {
      const UcxWorker::Care care = worker->look_after();
      is_any_in_use = is_any_in_use || care == UcxWorker::Care::in_use;
      is_any_left = is_any_left || care == UcxWorker::Care::left;
    }
    if (is_any_in_use || is_any_left) {
      nap = is_any_in_use ? kShortNap : std::min(2 * nap, kLongNap);
      lock.unlock();
      std::this_thread::sleep_for(nap);
      lock.lock();
    } else {
      woken_.wait(lock, [this] { return is_woken_; });
    }
    is_woken_ = false;
  }
}

}  // namespace hycoll
