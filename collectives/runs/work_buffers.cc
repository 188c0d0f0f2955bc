#include "collectives/runs/work_buffers.h"

#include "core/base/collective_traits.h"

namespace hycoll {

WorkBuffers::WorkBuffers(const Call& call, const VectorElements& elements,
                         const CallBuffers& buffers)
    : user_input_(call.input), user_output_(call.output), elements_(elements) {
  const auto is_displaced = [&](const BufferTraits& buffer) {
    return buffers.is_displaced && buffer.extent == Extent::vector;
  };
  const auto blocks_of = [&](const BufferTraits& buffer, std::size_t count) {
    std::vector<Block> blocks;
    if (!is_displaced(buffer)) {
      blocks.push_back({.place = 0, .count = count});
      return blocks;
    }
    for (std::size_t member = 0; count > 0 && member < call.block_counts.size(); ++member) {
      if (call.block_counts[member] == 0) continue;
      blocks.push_back({.place = call.displacements[member], .count = call.block_counts[member]});
    }
    return blocks;
  };
  const CollectiveTraits traits = traits_of(call.collective);
  const bool has_gaps = elements.staging != nullptr;
  if (has_gaps || is_displaced(traits.input)) {
    input_ =
        std::make_unique_for_overwrite<std::byte[]>(buffers.input_count * elements.element_bytes);
    inputs_ = blocks_of(traits.input, buffers.input_count);
  }
  results_ = blocks_of(traits.output, buffers.output_count);
  // Reduced in place, in the copy.
  const bool is_own_copy = has_gaps && buffers.output_count == buffers.input_count &&
                           !buffers.needs_own_output && !buffers.is_displaced;
  if (is_own_copy) {
    result_ = input_.get();
  } else if (has_gaps || buffers.needs_own_output || is_displaced(traits.output)) {
    output_ =
        std::make_unique_for_overwrite<std::byte[]>(buffers.output_count * elements.element_bytes);
    result_ = output_.get();
  }
}

void WorkBuffers::copy_in() noexcept {
  std::byte* next = input_.get();
  for (const auto& [place, count] : inputs_) {
    const std::size_t size_bytes = count * elements_.element_bytes;
    elements_.pack(elements_.address_of(user_input_, place), size_bytes, next);
    next += size_bytes;
  }
}

void WorkBuffers::deliver() {
  if (result_ == nullptr) return;
  const std::byte* next = result_;
  for (const auto& [place, count] : results_) {
    const std::size_t size_bytes = count * elements_.element_bytes;
    elements_.unpack(next, size_bytes, elements_.address_of(user_output_, place));
    next += size_bytes;
  }
}

}  // namespace hycoll
