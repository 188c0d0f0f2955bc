#include "preload/session/nonblocking_calls.h"

#include <exception>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/lifetime.h"
#include "preload/session/persistent_calls.h"
#include "preload/session/session.h"

namespace hycoll::preload {
namespace {

/// Set while this thread advances calls: what that does in the MPI library may ask for it again.
thread_local bool is_polling = false;

/// After so many looks of this thread in a row that found nothing to do, it gives its core away.
constexpr int kFruitlessPolls = 1000;
thread_local int fruitless_polls = 0;

void record(const PendingCall& call) noexcept {
  Report* const report = Session::instance().report();
  if (report == nullptr) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - call.start_time;
  try {
    report->record(call.routine, call.size_bytes, Server::hycoll, call.algorithm, seconds.count());
  } catch (const std::bad_alloc&) {
    // The call lacks in the report. The program waits for it, and must not end for that.
  }
}

}  // namespace

void drive_network() {
  // Any call that looks at the network drives it; MPICH's on MPI_COMM_SELF does not look.
  int is_there = 0;
  PMPI_Iprobe(0, 0, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
}

bool CallQueue::try_acquire() noexcept {
  // Pairs with the releasing store in release().
  return !is_acquired_.load(std::memory_order_relaxed) &&
         !is_acquired_.exchange(true, std::memory_order_acquire);
}

void CallQueue::acquire() noexcept {
  for (Waiter waiter(wait_policy_); !try_acquire();) {
    if (waiter.turn()) waiter.give_way();
  }
}

void CallQueue::release() noexcept {
  is_acquired_.store(false, std::memory_order_release);  // pairs with try_acquire()
}

void CallQueue::push(PendingCall* call) {
  acquire();
  waiting_.push_back(call);
  advance_acquired();
  release();
}

void CallQueue::advance_acquired() {
  while (!waiting_.empty() && waiting_.front()->call.advance()) end_first();
}

void CallQueue::end_first() {
  PendingCall* const call = waiting_.pop_front();
  record(*call);
  over_.push_back(call);
  NonblockingCalls::instance().under_way_.fetch_sub(1, std::memory_order_seq_cst);
}

int CallQueue::advance() {
  // A count that only this and look_after() compare; it orders nothing.
  polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (!try_acquire()) return 0;
  advance_acquired();
  CallRow over = std::exchange(over_, {});
  release();
  int completed = 0;
  while (PendingCall* const call = over.pop_front()) {
    ++completed;
    call->deliver();
    call->tell_completion();
    NonblockingCalls::instance().pending_.fetch_sub(1, std::memory_order_relaxed);  // a count
    pending_.fetch_sub(1, std::memory_order_release);  // pairs with is_busy()
    call->give_up();
  }
  return completed;
}

void CallQueue::look_after() {
  const std::uint32_t polls = polls_.load(std::memory_order_relaxed);
  const bool is_left_alone = std::exchange(polls_seen_, polls) == polls;
  if (!is_busy() || !try_acquire()) return;
  if (is_left_alone) advance_acquired();
  if (!waiting_.empty()) {
    DrivenCall& first = waiting_.front()->call;
    if (is_left_alone) first.restart_clock();
    first.look_for_trouble();
  }
  release();
}

NonblockingCalls& NonblockingCalls::instance() noexcept {
  static Immortal calls([] { return NonblockingCalls(); });
  return *calls;
}

template <class Visit>
void NonblockingCalls::for_each_queue(const Visit& visit) {
  for (QueueBlock* block = &queues_; block != nullptr;
       block = block->next.load(std::memory_order_acquire)) {  // pairs with take_queue()
    const std::size_t end = block->end.load(std::memory_order_relaxed);
    for (std::size_t q = 0; q < end; ++q) visit(block->queues[q]);
  }
}

CallQueue& NonblockingCalls::take_queue(const WaitPolicy& policy) {
  rest_.store(policy.rest, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  for (QueueBlock* block = &queues_;; block = block->next.load(std::memory_order_relaxed)) {
    for (std::size_t q = 0; q < QueueBlock::kQueueCount; ++q) {
      CallQueue& queue = block->queues[q];
      if (queue.is_taken_) continue;
      queue.is_taken_ = true;
      queue.wait_policy_ = policy;
      if (q >= block->end.load(std::memory_order_relaxed)) {
        block->end.store(q + 1, std::memory_order_relaxed);
      }
      return queue;
    }
    if (block->next.load(std::memory_order_relaxed) == nullptr) {
      block->next.store(new QueueBlock, std::memory_order_release);  // pairs with for_each_queue()
    }
  }
}

void NonblockingCalls::give_back(CallQueue& queue) noexcept {
  const std::lock_guard lock(mutex_);
  queue.is_taken_ = false;
}

int NonblockingCalls::start(std::unique_ptr<NonblockingCall> call, MPI_Request* request) {
  const int code = start_request(*call);
  if (code != MPI_SUCCESS) return code;
  *request = call->request;
  begin(*call.release());
  return MPI_SUCCESS;
}

void NonblockingCalls::begin(PendingCall& call) {
  call.own();
  CallQueue& queue = call.queue;
  queue.pending_.fetch_add(1, std::memory_order_relaxed);  // published by the queue's release()
  pending_.fetch_add(1, std::memory_order_relaxed);        // a count
  under_way_.fetch_add(1, std::memory_order_seq_cst);      // see ProgressKeeper::watch()
  queue.push(&call);
  if (!is_under_way()) return;
  try {
    keeper().watch();
  } catch (const std::bad_alloc&) {
    // The call is under way. Without a keeper it goes on when the program asks for it.
  }
}

ProgressKeeper& NonblockingCalls::keeper() {
  ProgressKeeper* keeper = watching_.load(std::memory_order_acquire);  // pairs with the store below
  if (keeper == nullptr) {
    const std::lock_guard lock(mutex_);
    if (!keeper_) keeper_.emplace(std::vector<LookedAfter*>{this}, rest());
    keeper = &*keeper_;
    watching_.store(keeper, std::memory_order_release);
  }
  return *keeper;
}

int NonblockingCalls::poll() {
  // What this thread has started it sees; other threads' calls are theirs to wait for.
  if (pending_.load(std::memory_order_relaxed) == 0 || is_polling) return 0;
  is_polling = true;
  int completed = 0;
  for_each_queue([&](CallQueue& queue) {
    if (queue.is_busy()) completed += queue.advance();
  });
  is_polling = false;
  fruitless_polls = completed > 0 ? 0 : fruitless_polls + 1;
  if (fruitless_polls >= kFruitlessPolls) {
    fruitless_polls = 0;
    std::this_thread::yield();
  }
  return completed;
}

template <class Predicate>
void NonblockingCalls::wait_until(const WaitPolicy& policy, const Predicate& is_over) {
  for (Waiter waiter(policy);;) {
    const int completed = poll();
    if (is_over()) return;
    if (completed > 0) waiter.reset();
    if (!waiter.turn()) continue;
    drive_network();
    waiter.give_way();
  }
}

void NonblockingCalls::finish(CallQueue& queue) {
  wait_until(queue.wait_policy_, [&] { return !queue.is_busy(); });
}

void NonblockingCalls::finish(const NonblockingCall& call) {
  wait_until(call.queue.wait_policy_, [&] { return call.is_complete(); });
}

void NonblockingCalls::finish_all() {
  for_each_queue([this](CallQueue& queue) { finish(queue); });
}

void NonblockingCalls::finish_persistent() {
  const WaitPolicy policy;
  const bool is_to_sleep = rest() == WaitPolicy::Rest::sleep;
  wait_until(is_to_sleep ? policy.with_rest(rest()) : policy,
             [] { return !PersistentCalls::are_under_way(); });
}

void NonblockingCalls::close() noexcept {
  const std::lock_guard lock(mutex_);
  watching_.store(nullptr, std::memory_order_relaxed);
  keeper_.reset();
  remove_request_hooks();
}

bool NonblockingCalls::is_under_way() const noexcept {
  return under_way_.load(std::memory_order_seq_cst) > 0;
}

void NonblockingCalls::look_after() {
  for_each_queue([](CallQueue& queue) { queue.look_after(); });
}

}  // namespace hycoll::preload
