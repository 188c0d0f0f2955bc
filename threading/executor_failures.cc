// How a run ends that has failed, here or for another worker of the node.

#include <optional>
#include <utility>

#include "threading/executor.h"

namespace hycoll {

void WorkerExecutor::find_missed_failure(CallNumber last_left) {
  if (options_.running_ahead == RunningAhead::forbidden || missed_failure_) return;
  last_failure_seen_ = memory_.last_failed_call();
  const CallNumber end = last_left + 1;
  for (CallNumber call = end > kCallSets ? end - kCallSets : 1; call < end; ++call) {
    CallNumber& failed_here = failed_calls_[call % kCallSets];
    if (failed_here == call) continue;
    try {
      memory_.throw_if_failed(call);
    } catch (const Error& error) {
      failed_here = call;
      missed_failure_ = error;
      return;
    }
  }
}

void WorkerExecutor::throw_missed_failure() {
  const Error error = *std::exchange(missed_failure_, std::nullopt);
  throw error;
}

void WorkerExecutor::fail(const Error& error) {
  failed_calls_[arguments_.call % kCallSets] = arguments_.call;
  memory_.fail(worker_, arguments_.call, error);
  abandon();
  memory_.leave(worker_, arguments_.call);
  failure_ = error;
}

WorkerExecutor::Progress WorkerExecutor::end_failed() {
  // Members that disagree may execute other programs, which do not tell when they are left.
  const bool is_waited_for = arguments_.by_kernel && failure_->kind() == ErrorKind::environment;
  if (is_waited_for && !memory_.all_have_left(arguments_.call)) return Progress::blocked;
  const Error error = *std::exchange(failure_, std::nullopt);
  throw error;
}

}  // namespace hycoll
