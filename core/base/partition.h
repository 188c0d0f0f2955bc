#ifndef HYCOLL_CORE_BASE_PARTITION_H_
#define HYCOLL_CORE_BASE_PARTITION_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hycoll {

/// A half-open range of elements.
struct ElementRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const noexcept { return end - begin; }
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

/// Maps the chunks of a schedule to ranges of elements. The chunks are contiguous, in order, cover
/// the vector exactly, and may be empty. Everybody who needs to know where a chunk lies asks this
/// class.
class Partition {
 public:
  /// Chunks as equal as whole granules allow: sizes differ by at most one granule (the vector's
  /// incomplete last granule counts as one). A granule of one cache line keeps two leaders from
  /// writing to one line. Requires chunk_count >= 1 and granule >= 1.
  static Partition balanced(std::size_t element_count, int chunk_count, std::size_t granule = 1);

  /// Every chunk has `chunk_size` elements.
  static Partition uniform(std::size_t chunk_size, int chunk_count);

  /// Chunk c is [offsets[c], offsets[c + 1]). Requires offsets that start at 0 and never decrease;
  /// throws Error otherwise.
  static Partition explicit_offsets(std::vector<std::size_t> offsets);

  bool is_balanced() const noexcept { return offsets_.empty(); }
  int chunk_count() const noexcept { return chunk_count_; }
  std::size_t element_count() const noexcept { return element_count_; }

  /// The chunks that have elements are the first so many. Requires a balanced partition.
  int filled_chunk_count() const {
    return static_cast<int>(std::min(granules_, static_cast<std::size_t>(chunk_count_)));
  }

  /// The elements of one chunk, or of `count` neighbouring ones.
  ElementRange range(int chunk) const { return {begin(chunk), begin(chunk + 1)}; }
  ElementRange range(int first_chunk, int count) const {
    return {begin(first_chunk), begin(first_chunk + count)};
  }

 private:
  Partition(std::size_t element_count, int chunk_count, std::size_t granule,
            std::vector<std::size_t> offsets);
  std::size_t begin(int chunk) const {
    const auto index = static_cast<std::size_t>(chunk);
    if (!offsets_.empty()) return offsets_[index];
    // The first `longer_` chunks are one granule longer; written so that it cannot overflow.
    const std::size_t first = index * granules_per_chunk_ + std::min(index, longer_);
    return first == granules_ ? element_count_ : first * granule_;
  }

  std::size_t element_count_;
  int chunk_count_;
  // Balanced:
  std::size_t granule_;
  std::size_t granules_;
  std::size_t granules_per_chunk_;
  std::size_t longer_;
  std::vector<std::size_t> offsets_;  // explicit; empty for balanced
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_PARTITION_H_
