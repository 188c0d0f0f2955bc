// How a caller knows a call that needs no resolving.

#include <cstdint>

#include "collectives/calls/caller.h"

namespace hycoll {

void RepeatableCall::remember(const Call& call, const PreparedCall& prepared, const Plan& plan) {
  plan_ = &plan;
  call_ = call;
  arguments_ = prepared.arguments;
  const std::size_t element_bytes = prepared.query.element_bytes;
  input_bytes_ = prepared.buffers.input_count * element_bytes;
  output_bytes_ = prepared.buffers.output_count * element_bytes;
  own_block_bytes_ = prepared.buffers.block_begin * element_bytes;
  // Who gets no result has no address to pass on that the next call might not have.
  if (input_bytes_ > 0 && output_bytes_ == 0) arguments_.output = nullptr;
}

bool RepeatableCall::is_like(const Call& call) const noexcept {
  return plan_ != nullptr && call.count == call_.count && call.collective == call_.collective &&
         call.type == call_.type && call.op == call_.op && call.root == call_.root &&
         call.bits == call_.bits && call.block_counts.empty() && may_use(call.input, call.output);
}

bool RepeatableCall::may_use(const void* input, const void* output) const noexcept {
  if (input_bytes_ > 0 && input == nullptr) return false;
  if (output_bytes_ > 0 && output == nullptr) return false;
  if (input_bytes_ == 0 || output_bytes_ == 0) return true;
  const auto input_begin = reinterpret_cast<std::uintptr_t>(input);
  const auto output_begin = reinterpret_cast<std::uintptr_t>(output);
  const bool apart =
      output_begin + output_bytes_ <= input_begin || input_begin + input_bytes_ <= output_begin;
  return apart || output_begin == input_begin + own_block_bytes_;
}

const CallArguments& RepeatableCall::arguments_for(const Call& call, CallNumber number) noexcept {
  arguments_.call = number;
  if (input_bytes_ > 0) arguments_.input = call.input;
  if (output_bytes_ > 0) arguments_.output = call.output;
  return arguments_;
}

}  // namespace hycoll
