#ifndef HYCOLL_COLLECTIVES_RUNS_PAIR_BUFFERS_H_
#define HYCOLL_COLLECTIVES_RUNS_PAIR_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/api/hycoll.h"
#include "collectives/elements/vector_elements.h"
#include "collectives/runs/result_copies.h"
#include "threading/program/pair_blocks.h"

namespace hycoll {

/// Whether a call is an all-to-all whose blocks differ from pair to pair.
inline bool has_unequal_pairs(const Call& call) noexcept {
  return call.collective == Collective::alltoall &&
         !(call.block_counts.empty() && call.received_counts.empty());
}

/// A member's blocks in an all-to-all of unequal ones, as bytes: where they are, or in copies of
/// those whose data do not lie in memory in the order of their type map and without gaps, and of
/// input that the results may replace. May be used for one call after another, in the same memory.
class PairBuffers final : public ResultCopies {
 public:
  /// The next call; copy_in() copies what has to be copied. Throws Error (invalid_argument), naming
  /// argument, value, ranks and remedy, if the member cannot make this call: lists that have not as
  /// many entries as there are members, blocks at a null address (BufferError) or beyond what
  /// memory can have, containers of other sizes than the counts ask for, or blocks of the result
  /// that overlap (BufferError) unless that is `unspecified`.
  void take(const Call& call, std::size_t member_count, Options::Overlaps overlaps);

  /// Writes down where the blocks are, from `origin` on.
  void describe(MemberBlocks& blocks, const std::byte* origin) const noexcept;

  /// Whether results have to be delivered.
  bool has_copies() const noexcept { return input_ != nullptr || output_ != nullptr; }
  void copy_in() noexcept override;
  void deliver() override;

 private:
  struct Block {
    std::byte* address = nullptr;  ///< Of its data: the user's, or of the copy.
    std::size_t size_bytes = 0;
  };
  /// A block of elements of the user's.
  struct UserBlock {
    std::byte* address = nullptr;
    std::size_t size_bytes = 0;
    const TypedStaging* staging = nullptr;  ///< One of stagings_; null: its bytes are the call's.
  };
  struct Side;
  /// The blocks that have data, in order, together.
  struct Together {
    bool are_staged = false;             ///< Some have a staging.
    std::uintptr_t begin = UINTPTR_MAX;  ///< The others lie between these.
    std::uintptr_t end = 0;

    bool may_touch(const Together& other) const noexcept {
      return begin < other.end && other.begin < end;
    }
  };

  Together find_blocks(const Side& side, std::vector<UserBlock>& blocks);
  static void check_apart(const std::vector<UserBlock>& blocks);
  /// What stands for the blocks: themselves, or, if some or all are copied, so much of `copy`.
  enum class Copied { none, staged, all };
  static void place(const std::vector<UserBlock>& user, Copied copied,
                    std::unique_ptr<std::byte[]>& copy, std::vector<Block>& blocks);
  RecentMovedElements elements_;
  std::vector<std::shared_ptr<const TypedStaging>> stagings_;  // of the call's types
  std::vector<UserBlock> sent_;
  std::vector<UserBlock> results_;
  std::vector<Block> row_;
  std::vector<Block> column_;
  std::unique_ptr<std::byte[]> input_;   // null: no copies
  std::unique_ptr<std::byte[]> output_;  // the same
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_PAIR_BUFFERS_H_
