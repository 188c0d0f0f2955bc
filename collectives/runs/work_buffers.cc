#include "collectives/runs/work_buffers.h"

#include <cstring>

namespace hycoll {

WorkBuffers::WorkBuffers(const Call& call, const VectorElements& elements,
                         const CallBuffers& buffers)
    : user_input_(call.input),
      user_output_(call.output),
      output_count_(buffers.output_count),
      output_bytes_(buffers.output_count * elements.element_bytes),
      staging_(elements.staging) {
  if (staging_ != nullptr) {
    input_ =
        std::make_unique_for_overwrite<std::byte[]>(buffers.input_count * elements.element_bytes);
    staging_->copy_in(user_input_, input_.get(), 0, buffers.input_count);
    const bool is_own_copy =
        buffers.output_count == buffers.input_count && !buffers.needs_own_output;
    if (is_own_copy) return;  // reduced in place, in the copy
  }
  output_ = std::make_unique_for_overwrite<std::byte[]>(output_bytes_);
}

void WorkBuffers::deliver() {
  if (output_bytes_ == 0) return;
  if (staging_ != nullptr) {
    staging_->copy_out(output(), user_output_, 0, output_count_);
  } else {
    std::memcpy(user_output_, output(), output_bytes_);
  }
}

}  // namespace hycoll
