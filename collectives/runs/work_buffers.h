#ifndef HYCOLL_COLLECTIVES_RUNS_WORK_BUFFERS_H_
#define HYCOLL_COLLECTIVES_RUNS_WORK_BUFFERS_H_

#include <cstddef>
#include <memory>

#include "collectives/api/hycoll.h"
#include "collectives/elements/vector_elements.h"
#include "collectives/runs/arguments.h"

namespace hycoll {

/// Stands in for the user's buffers in a call that cannot use them themselves: elements with gaps,
/// and a result that is to replace its input, but not element by element.
class WorkBuffers {
 public:
  /// Copies the input, where need be.
  WorkBuffers(const Call& call, const VectorElements& elements, const CallBuffers& buffers);

  const void* input() const noexcept { return input_ != nullptr ? input_.get() : user_input_; }
  void* output() noexcept { return output_ != nullptr ? output_.get() : input_.get(); }

  /// Copies the result to where the user wants it. After the call.
  void deliver();

 private:
  const void* user_input_;
  void* user_output_;
  std::size_t output_count_;
  std::size_t output_bytes_;
  std::shared_ptr<const TypedStaging> staging_;
  std::unique_ptr<std::byte[]> input_;   // null: the user's
  std::unique_ptr<std::byte[]> output_;  // null: the input
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_WORK_BUFFERS_H_
