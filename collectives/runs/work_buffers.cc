#include "collectives/runs/work_buffers.h"

#include <cstring>

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
    copy_in(blocks_of(traits.input, buffers.input_count));
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

void WorkBuffers::copy_in(const std::vector<Block>& blocks) {
  std::size_t begin = 0;
  for (const auto& [place, count] : blocks) {
    if (elements_.staging != nullptr) {
      // Elements have the same numbers in both.
      const std::ptrdiff_t distance = place - static_cast<std::ptrdiff_t>(begin);
      elements_.staging->copy_in(elements_.address_of(user_input_, distance), input_.get(), begin,
                                 count);
    } else {
      std::memcpy(input_.get() + begin * elements_.element_bytes,
                  elements_.address_of(user_input_, place), count * elements_.element_bytes);
    }
    begin += count;
  }
}

void WorkBuffers::deliver() {
  if (result_ == nullptr) return;
  std::size_t begin = 0;
  for (const auto& [place, count] : results_) {
    if (count == 0) continue;
    if (elements_.staging != nullptr) {
      const std::ptrdiff_t distance = place - static_cast<std::ptrdiff_t>(begin);
      elements_.staging->copy_out(result_, elements_.address_of(user_output_, distance), begin,
                                  count);
    } else {
      std::memcpy(elements_.address_of(user_output_, place),
                  result_ + begin * elements_.element_bytes, count * elements_.element_bytes);
    }
    begin += count;
  }
}

}  // namespace hycoll
