#ifndef HYCOLL_THREADING_PROGRAM_PAIR_BLOCKS_H_
#define HYCOLL_THREADING_PROGRAM_PAIR_BLOCKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hycoll {

/// What a member has for another one, or gets from it.
struct PairBlock {
  std::size_t size_bytes = 0;
  std::ptrdiff_t offset_bytes = 0;  ///< Of its begin, from the address that the member announces.
};

/// What a member tells the workers of its node about an all-to-all of unequal blocks, as they see
/// it: the longest of its blocks; its row, a block for each member; its column, a block from each
/// one; and, where the row's data are told as well, where these lie behind.
class ToldBlocks {
 public:
  ToldBlocks(const void* address, int member_count) noexcept
      : blocks_(static_cast<const PairBlock*>(address)),
        member_count_(static_cast<std::size_t>(member_count)) {}

  std::size_t longest_bytes() const noexcept { return blocks_->size_bytes; }
  const PairBlock* sent_to(int member) const noexcept { return blocks_ + 1 + member; }
  const PairBlock* received_from(int member) const noexcept {
    return blocks_ + 1 + member_count_ + member;
  }
  bool has_data() const noexcept { return blocks_->offset_bytes != 0; }
  /// Requires has_data().
  const std::byte* data_for(int member) const noexcept {
    const auto* const begins =
        reinterpret_cast<const std::uint32_t*>(blocks_ + 1 + 2 * member_count_);
    return reinterpret_cast<const std::byte*>(blocks_) + begins[member];
  }

 private:
  const PairBlock* blocks_;
  std::size_t member_count_;
};

/// The same, as its member writes it.
class MemberBlocks {
 public:
  explicit MemberBlocks(int member_count)
      : member_count_(static_cast<std::size_t>(member_count)), blocks_(count_for(member_count_)) {}

  static std::size_t bytes_for(int member_count) {
    return count_for(static_cast<std::size_t>(member_count)) * sizeof(PairBlock);
  }

  std::span<PairBlock> row() noexcept { return std::span(blocks_).subspan(1, member_count_); }
  std::span<PairBlock> column() noexcept {
    return std::span(blocks_).subspan(1 + member_count_, member_count_);
  }
  /// Of the row's data: where each block begins, from the begin of what is told.
  std::span<std::uint32_t> data_begins() noexcept {
    return {reinterpret_cast<std::uint32_t*>(blocks_.data() + 1 + 2 * member_count_),
            member_count_};
  }

  /// When row and column are there.
  void complete(bool has_data) noexcept {
    blocks_.front() = {};
    const std::size_t longest_bytes =
        std::ranges::max_element(row_and_column(), {}, &PairBlock::size_bytes)->size_bytes;
    blocks_.front() = {.size_bytes = longest_bytes, .offset_bytes = has_data ? 1 : 0};
  }

  /// What the others see, at an address that stays.
  ToldBlocks told() const noexcept { return {blocks_.data(), static_cast<int>(member_count_)}; }
  void* address() noexcept { return blocks_.data(); }
  std::size_t size_bytes() const noexcept { return blocks_.size() * sizeof(PairBlock); }

 private:
  static std::size_t count_for(std::size_t member_count) {
    const std::size_t begins_bytes = member_count * sizeof(std::uint32_t);
    return 1 + 2 * member_count + (begins_bytes + sizeof(PairBlock) - 1) / sizeof(PairBlock);
  }
  std::span<const PairBlock> row_and_column() const noexcept {
    return std::span(blocks_).subspan(1, 2 * member_count_);
  }

  std::size_t member_count_;
  std::vector<PairBlock> blocks_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_PAIR_BLOCKS_H_
