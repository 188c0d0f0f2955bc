#include "collectives/runs/repeatable_call.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "collectives/runs/prepared_call.h"
#include "core/base/collective_traits.h"

namespace hycoll {
namespace {

/// As CallArguments::form.
std::uint64_t next_form() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // a number that nobody else has
}

/// No buffers that overlap are so far apart.
constexpr std::size_t kNeverApart = SIZE_MAX / 2;

}  // namespace

void RepeatableCall::remember(const Call& call, const PreparedCall& prepared, const Plan& plan) {
  plan_ = &plan;
  call_ = call;
  arguments_ = prepared.arguments;
  arguments_.form = next_form();
  // Of what is moved queries count the bytes.
  const std::size_t elements = std::max<std::size_t>(call.count, 1);
  const std::size_t element_bytes =
      prepared.query.element_bytes * (prepared.query.extent.count / elements);
  input_bytes_ = prepared.buffers.input_count * element_bytes;
  output_bytes_ = prepared.buffers.output_count * element_bytes;
  const bool moves = !combines(call.collective);
  input_in_output_bytes_ =
      moves && input_bytes_ < output_bytes_ ? prepared.buffers.input_begin * element_bytes : 0;
  output_in_input_bytes_ =
      moves && output_bytes_ < input_bytes_ ? prepared.buffers.output_begin * element_bytes : 0;
  begins_apart_bytes_ =
      has_pairs(call.collective)
          ? kNeverApart
          : (prepared.buffers.output_begin - prepared.buffers.input_begin) * element_bytes;
  // Who gets no result has no address to pass on that the next call might not have.
  if (input_bytes_ > 0 && output_bytes_ == 0) arguments_.output = nullptr;
}

}  // namespace hycoll
