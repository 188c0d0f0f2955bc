#include "collectives/calls/call_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "threading/execution/run_failure.h"

namespace hycoll {
namespace {

std::string describe(int rank, const std::optional<PackedSignature>& signature) {
  if (!signature) return fmt::format("rank {} refused its arguments (its error says why)", rank);
  return fmt::format("rank {} passed {}", rank, CallSignature::unpack(*signature).describe());
}

}  // namespace

void CallGate::enter(CallNumber call, int rank, const std::optional<PackedSignature>& signature) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(entered_.begin(), entered_.end(),
                                  [&](const Entered& other) { return other.call == call; });
  if (known == entered_.end()) {
    entered_.push_back(
        {.call = call, .rank = rank, .signature = signature, .count = 1, .difference = {}});
  } else {
    ++known->count;
    if (known->signature != signature && !known->difference) {
      known->difference.emplace(
          ErrorKind::mismatch,
          fmt::format("call {}: {}, but {}. Every member must make the same call with the same "
                      "count, type, operator and root",
                      call, describe(known->rank, known->signature), describe(rank, signature)));
    }
  }
  changed_.notify_all();
}

bool CallGate::all_entered(CallNumber call) const {
  const std::lock_guard lock(mutex_);
  if (call <= exchanged_) return true;
  return std::any_of(entered_.begin(), entered_.end(), [&](const Entered& entered) {
    return entered.call == call && entered.count == member_count_;
  });
}

std::optional<Error> CallGate::exchange(const Entered& entered) const {
  PackedSignature own = kRefusedSignature;
  if (entered.signature) own = *entered.signature;
  if (entered.difference) own = kMixedSignature;
  try {
    group_.check_signature(entered.call, own);
  } catch (const Error& error) {
    return entered.difference ? entered.difference : error;
  }
  return entered.difference;
}

void CallGate::pass(CallNumber call) {
  std::unique_lock lock(mutex_);
  while (exchanged_ < call) {
    const bool is_ready =
        !is_exchanging_ && !entered_.empty() && entered_.front().count == member_count_;
    if (!is_ready) {
      changed_.wait(lock);
      continue;
    }
    // In the order of calls, whoever comes first: the processes compare them by MPI collectives.
    is_exchanging_ = true;
    const Entered first = entered_.front();
    lock.unlock();
    const std::optional<Error> failure = exchange(first);
    lock.lock();
    is_exchanging_ = false;
    exchanged_ = first.call;
    entered_.pop_front();
    if (failure) failures_.emplace(first.call, *failure);
    if (failures_.size() > kFailuresKept) failures_.erase(failures_.begin());
    changed_.notify_all();
  }
  const auto failure = failures_.find(call);
  if (failure != failures_.end()) {
    throw RunFailure(failure->second, RunFailure::Scope::disagreement);
  }
}

}  // namespace hycoll
