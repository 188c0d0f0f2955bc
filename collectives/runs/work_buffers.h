#ifndef HYCOLL_COLLECTIVES_RUNS_WORK_BUFFERS_H_
#define HYCOLL_COLLECTIVES_RUNS_WORK_BUFFERS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "collectives/api/hycoll.h"
#include "collectives/elements/vector_elements.h"
#include "collectives/runs/arguments.h"
#include "collectives/runs/result_copies.h"

namespace hycoll {

/// Stands in for the user's buffers in a call that cannot use them themselves: elements with gaps,
/// blocks that do not follow each other, and a result that is to replace its input, but not element
/// by element.
class WorkBuffers final : public ResultCopies {
 public:
  WorkBuffers(const Call& call, const VectorElements& elements, const CallBuffers& buffers);

  const void* input() const noexcept { return input_ != nullptr ? input_.get() : user_input_; }
  void* output() noexcept { return result_ != nullptr ? result_ : user_output_; }

  void copy_in() noexcept override;
  void deliver() override;

 private:
  /// Elements that lie together in the user's buffer, and behind those before them in the vector.
  struct Block {
    std::ptrdiff_t place;
    std::size_t count;
  };

  const void* user_input_;
  void* user_output_;
  VectorElements elements_;
  std::vector<Block> inputs_;           // what the copy of the input has in the user's buffer
  std::vector<Block> results_;          // what the output has there
  std::unique_ptr<std::byte[]> input_;  // null: the user's
  std::unique_ptr<std::byte[]> output_;
  std::byte* result_ = nullptr;  // output_, or input_; null: the user's. An address of the user's
                                 // may be one of ours: what a type describes may lie elsewhere.
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_WORK_BUFFERS_H_
