// How a run ends that has failed, here or for another worker of the node (decision 27).

#include <exception>
#include <optional>
#include <utility>

#include "threading/execution/executor.h"

namespace hycoll {

void WorkerExecutor::look_for_failures() {
  find_missed_failure(arguments_.call - 1);
  memory_.throw_if_failed(arguments_.call);
}

void WorkerExecutor::find_missed_failure(CallNumber last_left) noexcept {
  if (options_.running_ahead == RunningAhead::forbidden || missed_failure_) return;
  last_failure_seen_ = memory_.last_failed_call();
  const CallNumber end = last_left + 1;
  for (CallNumber call = end > kCallSets ? end - kCallSets : 1; call < end; ++call) {
    CallNumber& failed_here = failed_calls_[call % kCallSets];
    if (failed_here == call) continue;
    try {
      memory_.throw_if_failed(call);
    } catch (const std::exception&) {
      failed_here = call;
      missed_failure_ = handled_failure();
      return;
    }
  }
}

void WorkerExecutor::throw_missed_failure() {
  const Error error = *std::exchange(missed_failure_, std::nullopt);
  throw RunFailure(error, RunFailure::Scope::earlier_run);
}

void WorkerExecutor::fail(const Error& error) noexcept {
  if (failure_) return;
  failed_calls_[arguments_.call % kCallSets] = arguments_.call;
  failure_ = error;
  is_failure_known_ = false;
}

WorkerExecutor::Progress WorkerExecutor::end_failed() {
  if (looking_ == Looking::forbidden) return Progress::blocked;
  if (!is_failure_known_) {
    // Before, members would overlook it: they look for failures of calls that all have entered.
    if (!all_members_entered()) return Progress::blocked;
    members_agree_ = memory_.agree(arguments_.call, member_worker_count());
    memory_.fail(worker_, arguments_.call, *failure_);
    give_up_messages();
    is_failure_known_ = true;
  }
  if (!messages_have_ended()) return Progress::blocked;
  if (members_agree_ && !awaited_workers_entered()) return Progress::blocked;
  memory_.leave(worker_, arguments_.call);
  if (!memory_.have_left(arguments_.call, program_->touched_before, digest_)) {
    return Progress::blocked;
  }
  const Error error = *std::exchange(failure_, std::nullopt);
  record_exit();
  if (is_observed()) observe_end(true);
  throw RunFailure(error,
                   members_agree_ ? RunFailure::Scope::run : RunFailure::Scope::disagreement);
}

bool WorkerExecutor::awaited_workers_entered() const {
  for (const StrandProgram& strand : program_->strands) {
    for (const Instruction& instruction : strand.instructions) {
      const bool waits = instruction.kind == InstructionKind::wait_post ||
                         instruction.kind == InstructionKind::wait_line ||
                         instruction.kind == InstructionKind::wait_flag;
      if (!waits) continue;
      // Pairs with the releasing store in start(): it has left the run before, and its memory.
      const auto entered = memory_.post(instruction.worker).call.load(std::memory_order_acquire);
      if (entered < arguments_.call) return false;
    }
  }
  return true;
}

void WorkerExecutor::give_up_messages() noexcept {
  const bool is_taken_up = taken_up_ == number_;
  for (std::size_t s = 0; s < program_->strands.size(); ++s) {
    const auto& instructions = program_->strands[s].instructions;
    const std::size_t issued = is_taken_up ? strands_[s].next : 0;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      if (instructions[i].peer < 0 || instructions[i].size_bytes == 0) continue;
      try {
        if (i < issued) {
          give_up(strands_[s], instructions[i]);
        } else if (members_agree_) {
          stand_in_for(instructions[i]);
        }
      } catch (const std::exception&) {
        // The run has failed already, for a reason that was there before this one.
      }
    }
  }
}

void WorkerExecutor::give_up(StrandState& state, const Instruction& instruction) {
  const auto r = static_cast<std::size_t>(instruction.request);
  if (instruction.kind != InstructionKind::receive || state.pending[r] == nullptr) return;
  Endpoint* const endpoint = std::exchange(state.pending[r], nullptr);
  const bool is_to_come = endpoint->cancel(state.requests[r]);
  if (is_to_come && members_agree_) stand_in_for(instruction);
}

void WorkerExecutor::stand_in_for(const Instruction& instruction) {
  Endpoint& endpoint = endpoint_of(instruction);
  if (instruction.kind == InstructionKind::send) {
    endpoint.send_failure(instruction.peer, tag_of(instruction));
  } else {
    endpoint.discard(instruction.peer, tag_of(instruction), instruction.size_bytes);
  }
}

bool WorkerExecutor::messages_have_ended() noexcept {
  for (StrandState& state : strands_) {
    for (std::size_t r = 0; r < state.pending.size(); ++r) {
      try {
        if (!completed(state, static_cast<int>(r))) return false;
      } catch (const std::exception&) {
        // It has ended, too.
      }
    }
  }
  return true;
}

void WorkerExecutor::abandon() {
  record_exit();
  if (is_observed()) observe_end(true);
  bool is_sending = false;
  for (std::size_t s = 0; s < strands_.size() && taken_up_ == number_; ++s) {
    StrandState& state = strands_[s];
    for (const Instruction& instruction : program_->strands[s].instructions) {
      const auto r = static_cast<std::size_t>(instruction.request);
      if (instruction.peer < 0) continue;
      Endpoint* const endpoint = std::exchange(state.pending[r], nullptr);
      if (endpoint == nullptr) continue;
      if (instruction.kind == InstructionKind::receive) {
        endpoint->cancel(state.requests[r]);
      } else {
        endpoint->leave_alone(state.requests[r]);
        is_sending = true;
      }
    }
  }
  failure_.reset();
  if (!is_sending) return;
  left_behind_.push_back(std::move(scratch_));
  taken_up_ = 0;
}

}  // namespace hycoll
