// Nonblocking and persistent calls under way.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <thread>
#include <utility>

#include "collectives/calls/caller.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// Of a call that has failed, and whose error nobody has asked for.
void report_lost(const std::optional<Error>& error) noexcept {
  if (!error) return;
  std::fprintf(stderr, "hycoll: a call failed, and its request was given up without wait(): %s\n",
               error->what());
}

}  // namespace

bool Request::State::test() {
  if (is_complete) return true;
  if (deferred != nullptr) {
    if (!outcome.finished.load(std::memory_order_acquire)) deferred->advance();
    if (!outcome.finished.load(std::memory_order_acquire)) return false;
  } else if (!job->finished()) {
    return false;
  }
  complete();
  return true;
}

void Request::State::finish() {
  if (is_complete) return;
  if (deferred == nullptr) {
    job->wait();
  } else if (!outcome.finished.load(std::memory_order_acquire)) {
    deferred->finish();
  }
  complete();
}

void Request::State::complete() {
  is_complete = true;
  try {
    deliver();
  } catch (const std::exception&) {
    error = handled_failure();
  }
}

void Request::State::deliver() {
  if (runs != nullptr) return runs->finish();
  const std::optional<RunFailure> failure = deferred != nullptr ? outcome.error : job->failure();
  if (!goes_on(failure)) caller->retract(call);
  if (has_results(failure) && work != nullptr) work->deliver();
  if (failure) throw RunFailure(*failure);
}

Request::Request() noexcept = default;
Request::Request(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Request::Request(Request&&) noexcept = default;

Request& Request::operator=(Request&& other) noexcept {
  const Request last(std::exchange(state_, std::move(other.state_)));
  return *this;
}

Request::~Request() {
  if (state_ == nullptr) return;
  state_->finish();
  report_lost(state_->error);
}

bool Request::test() {
  if (state_ != nullptr && !state_->test()) return false;
  wait();
  return true;
}

void Request::wait() {
  if (state_ == nullptr) return;
  const std::unique_ptr<State> state = std::move(state_);
  state->finish();
  if (state->error) throw Error(*state->error);
}

bool Request::has_completed() { return state_ == nullptr || state_->test(); }

void wait_all(std::span<Request> requests) {
  std::exception_ptr first;
  for (Request& request : requests) {
    try {
      request.wait();
    } catch (const Error&) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
}

bool test_all(std::span<Request> requests) {
  const bool have_completed =
      std::ranges::all_of(requests, [](Request& request) { return request.has_completed(); });
  if (have_completed) wait_all(requests);
  return have_completed;
}

std::size_t wait_any(std::span<Request> requests) {
  for (bool are_left = true; are_left; std::this_thread::yield()) {
    are_left = false;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (!requests[i].has_call()) continue;
      are_left = true;
      if (!requests[i].has_completed()) continue;
      requests[i].wait();
      return i;
    }
  }
  return requests.size();
}

Persistent::Persistent(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Persistent::Persistent(Persistent&&) noexcept = default;

Persistent& Persistent::operator=(Persistent&& other) noexcept {
  const Persistent last(std::exchange(state_, std::move(other.state_)));
  return *this;
}

Persistent::~Persistent() {
  if (state_ == nullptr || !state_->is_active) return;
  state_->request->finish();
  report_lost(state_->request->error);
}

void Persistent::start() {
  // Not whether it has completed meanwhile: a program must not depend on that.
  if (state_->is_active) {
    throw Error(ErrorKind::invalid_argument,
                "Persistent::start: the last start is still under way; call wait() first");
  }
  state_->caller->start(*state_);
}

bool Persistent::test() {
  if (state_->is_active && !state_->request->test()) return false;
  wait();
  return true;
}

void Persistent::wait() {
  if (!state_->is_active) return;
  state_->request->finish();
  state_->is_active = false;
  if (state_->request->error) throw Error(*state_->request->error);
}

bool Persistent::has_completed() { return !state_->is_active || state_->request->test(); }

void Persistent::run() {
  const CallSite site(__builtin_return_address(0));
  wait();
  state_->caller->run(*state_);
}

}  // namespace hycoll
