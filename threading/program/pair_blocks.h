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

/// What a member tells of all of its blocks together.
struct PairSummary {
  std::size_t longest_bytes = 0;
  std::size_t all_bytes = 0;  ///< Of its row and its column.
  bool has_data = false;      ///< The row's data are told as well.
};

/// What a member tells the workers of its node about an all-to-all of unequal blocks, as they see
/// it: a summary; its row, a block for each member; its column, a block from each one; and, where
/// the row's data are told as well, where these lie behind.
class ToldBlocks {
 public:
  ToldBlocks(const void* address, int member_count) noexcept
      : address_(static_cast<const std::byte*>(address)),
        blocks_(reinterpret_cast<const PairBlock*>(address_ + sizeof(PairSummary))),
        member_count_(static_cast<std::size_t>(member_count)) {}

  const PairSummary& summary() const noexcept {
    return *reinterpret_cast<const PairSummary*>(address_);
  }
  const PairBlock* sent_to(int member) const noexcept { return blocks_ + member; }
  const PairBlock* received_from(int member) const noexcept {
    return blocks_ + member_count_ + member;
  }
  /// Requires PairSummary::has_data.
  const std::byte* data_for(int member) const noexcept {
    const auto* const begins = reinterpret_cast<const std::uint32_t*>(blocks_ + 2 * member_count_);
    return address_ + begins[member];
  }

 private:
  const std::byte* address_;
  const PairBlock* blocks_;
  std::size_t member_count_;
};

/// The same, as its member writes it.
class MemberBlocks {
 public:
  explicit MemberBlocks(int member_count)
      : member_count_(static_cast<std::size_t>(member_count)), memory_(bytes_for(member_count)) {}

  static std::size_t bytes_for(int member_count) {
    constexpr std::size_t kAlignment = alignof(std::max_align_t);  // of the data behind
    const auto members = static_cast<std::size_t>(member_count);
    const std::size_t bytes =
        sizeof(PairSummary) + 2 * members * sizeof(PairBlock) + members * sizeof(std::uint32_t);
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  std::span<PairBlock> row() noexcept { return row_and_column().first(member_count_); }
  std::span<PairBlock> column() noexcept { return row_and_column().last(member_count_); }
  /// Of the row's data: where each block begins, from the begin of what is told.
  std::span<std::uint32_t> data_begins() noexcept {
    const std::span<PairBlock> blocks = row_and_column();
    return {reinterpret_cast<std::uint32_t*>(blocks.data() + blocks.size()), member_count_};
  }

  /// When row and column are there.
  void complete(bool has_data) noexcept {
    PairSummary summary{.has_data = has_data};
    for (const PairBlock& block : row_and_column()) {
      summary.longest_bytes = std::max(summary.longest_bytes, block.size_bytes);
      summary.all_bytes += block.size_bytes;
    }
    *reinterpret_cast<PairSummary*>(memory_.data()) = summary;
  }

  /// What the others see, at an address that stays.
  ToldBlocks told() const noexcept { return {memory_.data(), static_cast<int>(member_count_)}; }
  std::byte* address() noexcept { return memory_.data(); }
  std::size_t size_bytes() const noexcept { return memory_.size(); }

 private:
  std::span<PairBlock> row_and_column() noexcept {
    return {reinterpret_cast<PairBlock*>(memory_.data() + sizeof(PairSummary)), 2 * member_count_};
  }

  std::size_t member_count_;
  std::vector<std::byte> memory_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_PAIR_BLOCKS_H_
