#include <exception>
#include <utility>

#include "collectives/calls/caller.h"
#include "core/base/errors.h"

namespace hycoll {

std::unique_ptr<DrivenCall::State> Caller::drive(const Call& call) {
  if (identity_.gate != nullptr) {
    throw Error(ErrorKind::unsupported,
                "drive: calls that are compared between all processes (HYCOLL_CHECK=1) wait for "
                "the others; use run or start");
  }
  auto state = std::make_unique<DrivenCall::State>();
  state->runs = several_runs(call);
  if (state->runs == nullptr) state->runs = single_call(call);
  enter(*state->runs, Waiting::forbidden);
  try {
    state->driver = driver(*state->runs);
    announce(*state->runs);
  } catch (const std::exception&) {
    take_back(state->runs->first_number());
    throw;
  }
  return state;
}

std::unique_ptr<DrivenRun> Caller::driver(CallRuns& runs) {
  const auto [pool, deferred, first] = background();
  auto job = job_of(runs, Blocking::no);
  auto parts = pool.make_ready(job, first, first + thread_count(runs) - 1);
  return std::make_unique<PoolRun>(pool, std::move(job), std::move(parts));
}

DrivenCall::DrivenCall() noexcept = default;
DrivenCall::DrivenCall(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
DrivenCall::DrivenCall(DrivenCall&&) noexcept = default;
DrivenCall& DrivenCall::operator=(DrivenCall&&) noexcept = default;
DrivenCall::~DrivenCall() = default;

bool DrivenCall::advance() noexcept {
  if (state_ == nullptr || state_->is_complete) return true;
  return state_->is_complete = state_->driver->advance();
}

void DrivenCall::look_for_trouble() {
  if (state_ == nullptr || state_->is_complete) return;
  state_->driver->look_for_trouble(state_->waiter);
}

void DrivenCall::deliver() {
  if (state_ != nullptr) state_->runs->finish();
}

}  // namespace hycoll
