#include "collectives/calls/repeatable_call.h"

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

}  // namespace hycoll
