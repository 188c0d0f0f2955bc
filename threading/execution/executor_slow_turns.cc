// What a worker does from time to time while it waits: looks for failures, drives MPI, says what it
// waits for, yields.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "core/base/ticks.h"
#include "threading/execution/executor.h"

namespace hycoll {
namespace {

/// From which on a call's waiting is shown to others.
constexpr std::chrono::milliseconds kLongWait{100};

}  // namespace

void WorkerExecutor::slow_turn(Waiter& waiter) {
  look_for_trouble(waiter);
  if (just_tested_ == nullptr || waiter.drives_for_all()) drive_for_all();
  advance_messages();
  if (arguments_.is_blocking && options_.while_waiting) options_.while_waiting();
  // Nobody rings when a message arrives.
  waiter.give_way(has_pending_messages() ? nullptr : &memory_.bell());
}

void WorkerExecutor::drive_transport() {
  drive_for_all();
  advance_messages();
}

void WorkerExecutor::drive_for_all() {
  for (Endpoint* endpoint : endpoints_) {
    if (endpoint == nullptr) continue;
    endpoint->progress();
    return;
  }
}

void WorkerExecutor::advance_messages() {
  // The strands may wait for something else than their messages.
  const Endpoint* last = std::exchange(just_tested_, nullptr);
  for (const StrandState& state : strands_) {
    for (auto r = static_cast<std::size_t>(state.first_pending); r < state.pending.size(); ++r) {
      Endpoint* const endpoint = state.pending[r];
      if (endpoint == nullptr || endpoint == last) continue;
      endpoint->advance();
      last = endpoint;
    }
  }
}

bool WorkerExecutor::has_pending_messages() const noexcept {
  return std::any_of(strands_.begin(), strands_.end(), [](const StrandState& state) {
    return std::any_of(state.pending.begin() + state.first_pending, state.pending.end(),
                       [](const Endpoint* endpoint) { return endpoint != nullptr; });
  });
}

void WorkerExecutor::look_for_trouble(Waiter& waiter) {
  try {
    if (!failure_ && all_members_entered()) memory_.throw_if_failed(arguments_.call);
    if (!failure_) look_for_mismatch();
  } catch (const std::exception&) {
    fail(handled_failure());
  }
  // Before MPI is asked, which may meet the same end and know less of it.
  look_for_ended_process();
  look_at_clock(waiter);
}

void WorkerExecutor::record_long_wait(std::chrono::steady_clock::duration time) noexcept {
  if (options_.record == nullptr || time < kLongWait ||
      options_.record->late_since_ns.load(std::memory_order_relaxed) != 0) {
    return;
  }
  options_.record->late_since_ns.store(nanoseconds(std::chrono::steady_clock::now() - time),
                                       std::memory_order_relaxed);
}

void WorkerExecutor::look_at_clock(Waiter& waiter) {
  record_long_wait(waiter.slow_time());
  if (options_.on_long_wait && waiter.has_passed(options_.warn_after) &&
      memory_.may_warn(options_.warn_after)) {
    options_.on_long_wait(describe_long_wait(waiter.slow_time()));
  }
  if (options_.timeout.count() > 0 && waiter.slow_time() > options_.timeout &&
      options_.on_timeout) {
    options_.on_timeout(describe_long_wait(options_.timeout));
    waiter.reset();
  }
}

std::string WorkerExecutor::describe_long_wait(std::chrono::steady_clock::duration time) const {
  return fmt::format("hycoll: {} (call {}) has been waiting for {:.1f} s: {}", collective_name(),
                     named_call(), std::chrono::duration<double>(time).count(), describe_wait());
}

void WorkerExecutor::look_for_mismatch() {
  // Workers without a member pass nothing of their own, and may have gone on to calls far ahead.
  for (int worker = 0; worker < member_worker_count(); ++worker) post_arrived(worker);
}

}  // namespace hycoll
