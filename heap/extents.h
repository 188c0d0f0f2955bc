#ifndef HYCOLL_HEAP_EXTENTS_H_
#define HYCOLL_HEAP_EXTENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace hycoll {

/// The bookkeeping of an arena: which ranges of [0, capacity) are blocks and which are free. Knows
/// offsets only, no memory: what it says lies outside the arena, where no neighbour and no overrun
/// can spoil it.
///
/// Best fit over ordered maps with coalescing: place, resize and release take O(log blocks).
/// Among free ranges, those that have been written are taken first, for they have pages already.
/// A free range that has never been written (or was given back to the system) reads as zeros; free
/// ranges are merged with neighbours of the same kind only, so that this stays known.
///
/// Not safe for concurrent use.
class Extents {
 public:
  /// What a range holds when it is handed out.
  enum class Content {
    zero,  ///< It reads as zeros, and may have no pages yet.
    any,   ///< Whatever its last owner left.
  };

  struct Range {
    std::size_t offset;
    std::size_t size_bytes;
    Content content;
  };

  /// `origin` is the address that offset 0 stands for: blocks are aligned as addresses. Requires:
  /// capacity_bytes > 0.
  explicit Extents(std::size_t capacity_bytes, std::uintptr_t origin = 0);

  /// Makes a block of `size_bytes` whose address is a multiple of `alignment_bytes`; nullopt if no
  /// free range has room. Requires: size_bytes > 0; alignment_bytes a power of two.
  std::optional<Range> place(std::size_t size_bytes, std::size_t alignment_bytes);

  /// What would have to become part of the block at `offset`, of old size, for it to be
  /// `size_bytes` long: the range behind it. nullopt if that is not free. Changes nothing.
  /// Requires: a block at `offset` that is shorter than size_bytes.
  std::optional<Range> room_behind(std::size_t offset, std::size_t size_bytes) const;

  /// Makes the block at `offset` `size_bytes` long where it is. False, and nothing changes, if it
  /// would have to grow into a range that is not free. Requires: a block at `offset`; size_bytes
  /// > 0.
  bool resize(std::size_t offset, std::size_t size_bytes);

  /// Frees the block at `offset`, whose content counts as written. Requires: a block at `offset`.
  void release(std::size_t offset);

  /// The size of the block that begins at `offset`; 0 if none begins there.
  std::size_t size_of(std::size_t offset) const;

  /// The largest free range that has been written; nullopt if there is none.
  std::optional<Range> largest_written() const;

  /// Notes that a range returned by largest_written() reads as zeros from now on.
  void mark_zero(std::size_t offset);

  /// Calls `visit(offset, size_bytes)` for every block, in ascending order.
  void for_each_block(const std::function<void(std::size_t, std::size_t)>& visit) const;

  std::size_t block_count() const { return ranges_.size() - zero_.size() - written_.size(); }
  std::size_t block_bytes() const { return block_bytes_; }
  std::size_t written_free_bytes() const { return written_free_bytes_; }

  /// Where the last block ends; 0 without blocks.
  std::size_t end_of_blocks() const;

 private:
  enum class State { block, free_zero, free_written };
  struct Entry {
    std::size_t size_bytes;
    State state;
  };
  struct FreeKey {
    std::size_t size_bytes;
    std::size_t offset;
    auto operator<=>(const FreeKey&) const = default;
  };
  using Ranges = std::map<std::size_t, Entry>;
  using FreeSet = std::set<FreeKey>;

  static Content content_of(State state);
  FreeSet& set_of(State state) { return state == State::free_zero ? zero_ : written_; }
  std::optional<Range> place_in(State state, std::size_t size_bytes, std::size_t alignment_bytes);
  void add_free(std::size_t offset, std::size_t size_bytes, State state);
  Ranges::iterator remove_free(Ranges::iterator range);

  std::size_t capacity_bytes_;
  std::uintptr_t origin_;
  Ranges ranges_;    ///< By offset; they tile [0, capacity).
  FreeSet zero_;     ///< Free ranges that read as zeros.
  FreeSet written_;  ///< Free ranges that have been written.
  std::size_t block_bytes_ = 0;
  std::size_t written_free_bytes_ = 0;
};

}  // namespace hycoll

#endif  // HYCOLL_HEAP_EXTENTS_H_
