#ifndef HYCOLL_COLLECTIVES_CALLS_CALL_GATE_H_
#define HYCOLL_COLLECTIVES_CALLS_CALL_GATE_H_

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "collectives/job/process_group.h"
#include "core/base/errors.h"
#include "threading/memory/node_memory.h"

namespace hycoll {

/// Lets a call pass once all members of all processes have been found to make the same one: what
/// Options::Checking::all_processes asks for. Nobody executes anything of a call before that, so a
/// call that is refused leaves no message behind, and fails on all members alike.
///
/// All functions may be called by several threads at once.
class CallGate {
 public:
  /// For the members of this process. The group must outlive the gate.
  CallGate(const ProcessGroup& group, int member_count)
      : group_(group), member_count_(member_count) {}
  CallGate(const CallGate&) = delete;
  CallGate& operator=(const CallGate&) = delete;

  /// A member makes a call, or would have, had it not refused its arguments: then without a
  /// signature. Does not wait. Every member enters the same numbers in the same order.
  void enter(CallNumber call, int rank, const std::optional<PackedSignature>& signature);

  /// Whether all members of this process have entered the call.
  bool all_entered(CallNumber call) const;

  /// Waits for all members of all processes. Throws a RunFailure (mismatch, disagreement) on all of
  /// them if they do not make the same call. May be asked more than once.
  void pass(CallNumber call);

 private:
  struct Entered {
    CallNumber call;
    int rank;  ///< Of the first member.
    std::optional<PackedSignature> signature;
    int count = 1;
    std::optional<Error> difference;  ///< Between members of this process.
  };
  static constexpr std::size_t kFailuresKept = 64;

  std::optional<Error> exchange(const Entered& entered) const;

  const ProcessGroup& group_;
  int member_count_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<Entered> entered_;  ///< Calls that have not been exchanged, in order.
  bool is_exchanging_ = false;   ///< A thread exchanges the first of them.
  CallNumber exchanged_ = 0;     ///< Calls up to here have been.
  std::map<CallNumber, Error> failures_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_CALL_GATE_H_
