#ifndef HYCOLL_CORE_SCHEDULE_TABLE_H_
#define HYCOLL_CORE_SCHEDULE_TABLE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hycoll::verifier {

/// Where in a table of a power of two of entries a key is looked for first, in the lowest bits.
constexpr std::size_t spread(std::uint64_t key) noexcept {
  constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
  const std::uint64_t product = key * kGoldenRatio;
  return static_cast<std::size_t>(product ^ (product >> 32));
}

/// A hash table from 64-bit keys to numbers >= 0, open-addressed in one array: the verifier looks
/// up millions of keys.
class NumberTable {
 public:
  explicit NumberTable(std::size_t expected_count)
      : entries_(std::bit_ceil(2 * expected_count + 2)), mask_(entries_.size() - 1) {}

  /// The number stored under the key; stores `fresh` if there is none yet.
  int find_or_insert(std::uint64_t key, int fresh) {
    if (2 * count_ >= entries_.size()) grow();
    Entry& entry = entries_[find(key)];
    if (entry.number < 0) {
      entry = {key, fresh};
      ++count_;
    }
    return entry.number;
  }

 private:
  struct Entry {
    std::uint64_t key = 0;
    int number = -1;
  };

  /// Where the key is, or would be.
  std::size_t find(std::uint64_t key) const {
    std::size_t at = spread(key) & mask_;
    while (entries_[at].number >= 0 && entries_[at].key != key) at = (at + 1) & mask_;
    return at;
  }

  void grow() {
    std::vector<Entry> old(2 * entries_.size());
    old.swap(entries_);
    mask_ = entries_.size() - 1;
    for (const Entry& entry : old) {
      if (entry.number >= 0) entries_[find(entry.key)] = entry;
    }
  }

  std::vector<Entry> entries_;
  std::size_t mask_;
  std::size_t count_ = 0;
};

}  // namespace hycoll::verifier

namespace hycoll {

/// Counts by 64-bit keys, open-addressed in one array.
class CountTable {
 public:
  /// How often the key has been asked for before. Quickest for the last one.
  int next(std::uint64_t key) {
    if (last_ < entries_.size() && entries_[last_].key == key && entries_[last_].count > 0) {
      return entries_[last_].count++;
    }
    if (2 * count_ >= entries_.size()) grow();
    last_ = find(key);
    Entry& entry = entries_[last_];
    if (entry.count == 0) {
      entry.key = key;
      ++count_;
    }
    return entry.count++;
  }

 private:
  static constexpr std::size_t kFirstSize = 8;

  struct Entry {
    std::uint64_t key = 0;
    int count = 0;
  };

  /// Where the key is, or would be.
  std::size_t find(std::uint64_t key) const {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = verifier::spread(key) & mask;
    while (entries_[at].count > 0 && entries_[at].key != key) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Entry> old(entries_.empty() ? kFirstSize : 2 * entries_.size());
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.count > 0) entries_[find(entry.key)] = entry;
    }
  }

  std::vector<Entry> entries_;
  std::size_t count_ = 0;
  std::size_t last_ = 0;  // where the last key is
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_TABLE_H_
