#include "collectives/runs/repeatable_call.h"

#include <atomic>

#include "collectives/runs/prepared_call.h"

namespace hycoll {
namespace {

/// As CallArguments::form.
std::uint64_t next_form() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // a number that nobody else has
}

}  // namespace

void RepeatableCall::remember(const Call& call, const PreparedCall& prepared, const Plan& plan) {
  plan_ = &plan;
  call_ = call;
  arguments_ = prepared.arguments;
  arguments_.form = next_form();
  const std::size_t element_bytes = prepared.query.element_bytes;
  input_bytes_ = prepared.buffers.input_count * element_bytes;
  output_bytes_ = prepared.buffers.output_count * element_bytes;
  begins_apart_bytes_ =
      (prepared.buffers.output_begin - prepared.buffers.input_begin) * element_bytes;
  // Who gets no result has no address to pass on that the next call might not have.
  if (input_bytes_ > 0 && output_bytes_ == 0) arguments_.output = nullptr;
}

}  // namespace hycoll
