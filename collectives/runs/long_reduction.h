#ifndef HYCOLL_COLLECTIVES_RUNS_LONG_REDUCTION_H_
#define HYCOLL_COLLECTIVES_RUNS_LONG_REDUCTION_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "collectives/api/call.h"
#include "collectives/elements/reduction.h"
#include "collectives/runs/arguments.h"
#include "collectives/runs/call_runs.h"

namespace hycoll {

/// A reduction of more than is staged at once, of elements that are staged on some member or may
/// be: of one part of every block after another, where a vector that is not scattered is one block.
/// Members that stage nothing reduce such a vector where it is.
class LongReduction final : public CallRuns {
 public:
  /// Elements of the input that belong together.
  struct Block {
    std::size_t begin;
    std::size_t count;
  };

  /// How a vector is cut.
  struct Pieces {
    std::vector<Block> blocks;
    std::size_t length = 1;  ///< Of a block's pieces, in elements; the last one may be shorter.
    std::size_t count = 0;   ///< Of pieces, in the longest block.

    /// A block's piece; empty beyond the block's end.
    Block piece(std::size_t block, std::size_t index) const noexcept;
    /// The elements of all blocks' pieces of this index.
    std::size_t element_count(std::size_t index) const noexcept;
    /// The call of these elements; its block counts lie in `block_counts`.
    Call call_of(const Call& whole, std::size_t index,
                 std::vector<std::size_t>& block_counts) const;
  };

  /// The elements of a member's input.
  static std::size_t element_count(const Call& call, int member_count) noexcept;

  /// The pieces of a call of these elements: each as short as kPieceBytes over all blocks, unless
  /// one element of each is longer.
  static Pieces cut(const Call& call, std::size_t element_bytes, int member_count);

  struct Part {
    PlanPointer plan;
    PackedSignature signature;
  };

  /// `agreement` as CallRuns has it; `own_block` is the one whose result the member gets.
  LongReduction(RunsOwner& owner, const Call& call, const PackedSignature& signature,
                const Reduction& reduction, const CallBuffers& buffers, Pieces pieces,
                std::vector<Part> parts, std::size_t own_block, const Plan* agreement);

 private:
  std::size_t part_count() const noexcept override { return parts_.size(); }
  std::vector<const Plan*> plans_of_parts() const override;
  CallRun part(std::size_t index) const noexcept override;
  void load(std::size_t index) noexcept override;
  void unload(std::size_t index) noexcept override;

  /// Whether runs use the user's buffers.
  bool is_direct() const noexcept { return input_ == nullptr; }
  std::byte* result() const noexcept { return output_ != nullptr ? output_.get() : input_.get(); }

  Call call_;
  Reduction reduction_;
  Pieces pieces_;
  std::vector<Part> parts_;
  std::size_t own_block_;
  bool has_output_;
  std::unique_ptr<std::byte[]> input_;   // null: the user's buffers are used
  std::unique_ptr<std::byte[]> output_;  // null: the input
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_LONG_REDUCTION_H_
