#ifndef HYCOLL_COLLECTIVES_CALLS_REPEATABLE_CALL_H_
#define HYCOLL_COLLECTIVES_CALLS_REPEATABLE_CALL_H_

#include <cstddef>
#include <cstdint>

#include "collectives/api/call.h"
#include "collectives/plans/plan_cache.h"
#include "threading/execution/executor.h"

namespace hycoll {

struct PreparedCall;

/// A call that needed nothing but a plan: those that follow, and differ by their buffers only, need
/// not be resolved again. What every such call passes through is inline.
class RepeatableCall {
 public:
  /// Requires a call of predefined type and operator, which always mean the same.
  void remember(const Call& call, const PreparedCall& prepared, const Plan& plan);

  /// Whether a call is like the one remembered, on buffers that may be used as they are.
  bool is_like(const Call& call) const noexcept {
    return plan_ != nullptr && call.count == call_.count && call.collective == call_.collective &&
           call.type == call_.type && call.op == call_.op && call.root == call_.root &&
           call.bits == call_.bits && call.block_counts.empty() && may_use(call.input, call.output);
  }

  /// The arguments of such a call.
  const CallArguments& arguments_for(const Call& call, CallNumber number) noexcept {
    arguments_.call = number;
    if (input_bytes_ > 0) arguments_.input = call.input;
    if (output_bytes_ > 0) arguments_.output = call.output;
    return arguments_;
  }

  const Plan& plan() const noexcept { return *plan_; }

 private:
  bool may_use(const void* input, const void* output) const noexcept {
    if (input_bytes_ > 0 && input == nullptr) return false;
    if (output_bytes_ > 0 && output == nullptr) return false;
    if (input_bytes_ == 0 || output_bytes_ == 0) return true;
    const auto input_begin = reinterpret_cast<std::uintptr_t>(input);
    const auto output_begin = reinterpret_cast<std::uintptr_t>(output);
    const bool apart =
        output_begin + output_bytes_ <= input_begin || input_begin + input_bytes_ <= output_begin;
    return apart || output_begin == input_begin + own_block_bytes_;
  }

  const Plan* plan_ = nullptr;  // null: none is remembered
  Call call_;
  CallArguments arguments_;
  std::size_t input_bytes_ = 0;      // 0: the call's input is not used
  std::size_t output_bytes_ = 0;     // the same of its output
  std::size_t own_block_bytes_ = 0;  // from the input to where an output in place begins
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_REPEATABLE_CALL_H_
