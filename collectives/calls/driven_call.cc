#include <exception>
#include <utility>

#include "collectives/calls/caller.h"
#include "core/base/errors.h"

namespace hycoll {

void Caller::require_no_gate() const {
  if (identity_.gate == nullptr) return;
  throw Error(ErrorKind::unsupported,
              "drive: calls that are compared between all processes (HYCOLL_CHECK=1) wait for "
              "the others; use run or start");
}

std::unique_ptr<DrivenCall::State> Caller::drive(const Call& call) {
  require_no_gate();
  auto state = std::make_unique<DrivenCall::State>();
  state->runs = long_call(call);
  if (state->runs == nullptr) state->runs = single_call(call);
  enter_driven(*state);
  return state;
}

std::unique_ptr<DrivenCall::State> Caller::prepare_driven(const Call& call) {
  require_no_gate();
  auto state = std::make_unique<DrivenCall::State>();
  state->caller = this;
  state->is_complete = true;
  const KeptCall& kept = state->kept.emplace(call);
  state->runs = long_call(kept.call());
  if (state->runs == nullptr) state->runs = single_call(kept.call());
  provide_for_all(*state->runs, Waiting::allowed);
  return state;
}

void Caller::start(DrivenCall::State& driven) {
  enter_driven(driven);
  driven.waiter.reset();
  driven.is_complete = false;
}

void Caller::enter_driven(DrivenCall::State& driven) {
  enter(*driven.runs, Waiting::forbidden);
  try {
    if (driven.driver == nullptr || !driven.driver->may_repeat()) {
      driven.driver = driver(*driven.runs);
    }
    announce(*driven.runs);
  } catch (const std::exception&) {
    take_back(driven.runs->first_number());
    throw;
  }
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

void DrivenCall::start() {
  HYCOLL_ASSERT(state_ != nullptr && state_->caller != nullptr && state_->is_complete,
                "a call to be started, and not under way");
  try {
    state_->caller->start(*state_);
  } catch (const std::exception&) {
    state_->channel.spoil();
    throw;
  }
}

bool DrivenCall::advance() noexcept {
  if (state_ == nullptr || state_->is_complete) return true;
  const WorkerExecutor::Progress progress = state_->driver->advance();
  if (progress == WorkerExecutor::Progress::advanced) state_->waiter.reset();
  return state_->is_complete = progress == WorkerExecutor::Progress::finished;
}

void DrivenCall::restart_clock() noexcept {
  if (state_ != nullptr) state_->waiter.reset();
}

void DrivenCall::look_for_trouble() {
  if (state_ == nullptr || state_->is_complete) return;
  state_->driver->look_for_trouble(state_->waiter);
}

void DrivenCall::deliver() {
  if (state_ != nullptr) state_->runs->finish();
}

}  // namespace hycoll
