#ifndef HYCOLL_THREADING_PROGRAM_PAIR_BLOCKS_H_
#define HYCOLL_THREADING_PROGRAM_PAIR_BLOCKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "threading/memory/node_memory.h"

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
};

/// What a member tells the workers of its node about an all-to-all of unequal blocks, as they see
/// it: a summary; its row, a block for each member; and its column, a block from each one.
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
    return sizeof(PairSummary) + 2 * static_cast<std::size_t>(member_count) * sizeof(PairBlock);
  }

  std::span<PairBlock> row() noexcept { return row_and_column().first(member_count_); }
  std::span<PairBlock> column() noexcept { return row_and_column().last(member_count_); }

  /// When row and column are there.
  void complete() noexcept {
    PairSummary summary;
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

/// Where the data of a member's row have been told.
enum class ToldData : std::uint32_t {
  nowhere,     ///< They are too long.
  in_lines,    ///< Behind the row's begin.
  in_staging,  ///< Behind the blocks.
};

/// The begin of what a member tells in lines, of 4 bytes each: ToldData, and where the data for
/// each member begin, with one entry more for the end of the last ones.
constexpr std::size_t row_begin_bytes(int member_count) noexcept {
  return sizeof(std::uint32_t) * (static_cast<std::size_t>(member_count) + 2);
}

/// The same, as others see it.
class ToldRow {
 public:
  explicit ToldRow(const Line* lines) noexcept : lines_(lines) {}

  ToldData data() const noexcept { return static_cast<ToldData>(number(0)); }
  std::size_t begin_for(int member) const noexcept {
    return number(static_cast<std::size_t>(member) + 1);
  }
  std::size_t size_for(int member) const noexcept {
    return begin_for(member + 1) - begin_for(member);
  }
  const Line* lines() const noexcept { return lines_; }

 private:
  std::uint32_t number(std::size_t index) const noexcept {
    const std::size_t word = index / 2;
    const std::uint64_t both =
        lines_[word / Line::kWords].payload[word % Line::kWords].load(std::memory_order_relaxed);
    return static_cast<std::uint32_t>(both >> 32 * (index % 2));
  }

  const Line* lines_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_PAIR_BLOCKS_H_
