#include <utility>

#include "collectives/calls/caller.h"
#include "core/base/errors.h"

namespace hycoll {

void DrivenCall::State::begin(const PreparedCall& part, const Plan& its_plan) {
  caller->announced(its_plan, part.arguments);
  run = caller->drive(its_plan, part.arguments);
}

bool DrivenCall::State::advance_part() {
  try {
    return run->advance();
  } catch (const RunFailure& met) {
    if (has_results(failure)) failure = met;
    return true;
  }
}

bool DrivenCall::State::advance_parts() {
  if (run == nullptr) begin(prepared, *prepared.plan);
  if (!advance_part()) return false;
  if (agreement && !is_agreeing && goes_on(failure)) {
    is_agreeing = true;
    begin(*agreement, *prepared.agreement_plan);
    if (!advance_part()) return false;
  }
  if (!goes_on(failure)) caller->retract(prepared.arguments.call);
  return true;
}

void DrivenCall::State::deliver() {
  if (has_results(failure)) {
    if (agreement) caller->throw_if_operator_failed(failure_mark, prepared.arguments.call);
    if (prepared.work != nullptr) prepared.work->deliver();
  }
  if (failure) throw RunFailure(*failure);
}

std::unique_ptr<DrivenCall::State> Caller::drive(const Call& call) {
  if (identity_.gate != nullptr) {
    throw Error(ErrorKind::unsupported,
                "drive: calls that are compared between all processes (HYCOLL_CHECK=1) wait for "
                "the others; use run or start");
  }
  auto state = std::make_unique<DrivenCall::State>();
  state->caller = this;
  state->prepared = make_next(call, Waiting::forbidden);
  if (state->prepared.is_custom) {
    state->prepared.arguments.is_agreed_on = true;
    state->agreement = agreement_into(state->failure_mark);
  }
  return state;
}

std::unique_ptr<DrivenRun> Caller::drive(const Plan& plan, const CallArguments& arguments) {
  return std::make_unique<PoolRun>(submit(plan, arguments, {}));
}

DrivenCall::DrivenCall() noexcept = default;
DrivenCall::DrivenCall(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
DrivenCall::DrivenCall(DrivenCall&&) noexcept = default;
DrivenCall& DrivenCall::operator=(DrivenCall&&) noexcept = default;
DrivenCall::~DrivenCall() = default;

bool DrivenCall::advance() {
  if (state_ == nullptr || state_->is_complete) return true;
  return state_->is_complete = state_->advance_parts();
}

void DrivenCall::look_for_trouble() {
  if (state_ == nullptr || state_->is_complete || state_->run == nullptr) return;
  state_->run->look_for_trouble(state_->waiter);
}

void DrivenCall::deliver() {
  if (state_ != nullptr) state_->deliver();
}

}  // namespace hycoll
