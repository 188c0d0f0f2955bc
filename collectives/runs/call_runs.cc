#include "collectives/runs/call_runs.h"

#include <exception>
#include <utility>

namespace hycoll {

void CallRuns::start(CallNumber first, Before before) {
  first_ = first;
  before_ = std::move(before);
  has_begun_ = false;
  index_ = 0;
  failure_mark_ = 0;
  failure_.reset();
}

CallRun CallRuns::outline(std::size_t index) const {
  const bool is_part = index < part_count();
  CallRun run =
      is_part ? part(index) : CallRun{agreement_.get(), owner_.agreement_into(failure_mark_)};
  run.arguments.call = first_ + index;
  return run;
}

std::vector<const Plan*> CallRuns::plans() const {
  std::vector<const Plan*> plans = plans_of_parts();
  if (is_custom()) plans.push_back(agreement_.get());
  return plans;
}

const CallRun* CallRuns::next() noexcept {
  if (!has_begun_) {
    has_begun_ = true;
    try {
      if (before_) before_();
    } catch (const std::exception&) {
      note(handled_failure());
    }
  } else if (index_ < part_count()) {
    if (has_results(failure_)) unload(index_);
    index_ = after(index_);
  } else {
    ++index_;
  }
  if (!goes_on(failure_) || index_ >= number_count()) return nullptr;
  run_ = outline(index_);
  const bool is_part = index_ < part_count();
  run_.arguments.is_agreed_on = is_part && (is_custom() || after(index_) < part_count());
  if (!has_results(failure_)) {
    run_.arguments.failure = &*failure_;
  } else if (is_part) {
    load(index_);
  }
  return &run_;
}

void CallRuns::note(const RunFailure& failure) noexcept {
  const std::lock_guard lock(mutex_);
  if (has_results(failure_)) failure_ = failure;
}

void CallRuns::finish() {
  if (!goes_on(failure_)) {
    for (std::size_t index = index_; index < number_count(); ++index) {
      owner_.retract(first_ + index);
    }
  }
  if (has_results(failure_)) {
    if (is_custom()) {
      owner_.throw_if_operator_failed(failure_mark_, first_, first_ + part_count() - 1);
    }
    deliver();
  }
  if (failure_) throw RunFailure(*failure_);
}

}  // namespace hycoll
