#ifndef HYCOLL_NUMA_TOPOLOGY_AFFINITY_MASK_H_
#define HYCOLL_NUMA_TOPOLOGY_AFFINITY_MASK_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace hycoll {

/// A set of processing units (hardware threads), named by the operating system's numbers: where a
/// thread or a process may run. A plain value without limit on the numbers; processes exchange it
/// as words(). Two masks are equal if and only if they hold the same processing units.
class AffinityMask {
 public:
  AffinityMask() = default;

  /// The given processing units. Throws Error invalid_argument if one is negative.
  AffinityMask(std::initializer_list<int> os_indices);
  explicit AffinityMask(std::span<const int> os_indices);

  /// The inverse of words(). Trailing zero words carry no meaning, so masks of several processes
  /// may be padded to one length before they are exchanged.
  static AffinityMask from_words(std::span<const std::uint64_t> words);

  /// Processing unit u is bit u % 64 of word u / 64. The last word is not zero; the empty mask has
  /// none.
  const std::vector<std::uint64_t>& words() const { return words_; }

  /// Adds one processing unit. Throws Error invalid_argument if it is negative.
  void add(int os_index);
  bool contains(int os_index) const;

  int count() const;
  bool empty() const { return words_.empty(); }
  /// Ascending.
  std::vector<int> processing_units() const;

  bool intersects(const AffinityMask& other) const;
  bool is_subset_of(const AffinityMask& other) const;

  /// As Linux writes it in Cpus_allowed_list: "0-3,8"; "" for the empty mask.
  std::string to_string() const;

  friend bool operator==(const AffinityMask&, const AffinityMask&) = default;
  friend AffinityMask operator&(const AffinityMask& left, const AffinityMask& right);
  friend AffinityMask operator|(const AffinityMask& left, const AffinityMask& right);

 private:
  std::vector<std::uint64_t> words_;  // without trailing zero words
};

/// Ascending numbers as ranges: "0-3,8". Requires: `numbers` strictly ascending.
std::string number_ranges(std::span<const int> numbers);

}  // namespace hycoll

#endif  // HYCOLL_NUMA_TOPOLOGY_AFFINITY_MASK_H_
