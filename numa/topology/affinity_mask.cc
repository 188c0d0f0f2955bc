#include "numa/topology/affinity_mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>

#include "core/base/errors.h"

namespace hycoll {
namespace {

constexpr int kWordBits = 64;

void drop_trailing_zeros(std::vector<std::uint64_t>& words) {
  while (!words.empty() && words.back() == 0) words.pop_back();
}

}  // namespace

AffinityMask::AffinityMask(std::initializer_list<int> os_indices)
    : AffinityMask(std::span<const int>(os_indices.begin(), os_indices.size())) {}

AffinityMask::AffinityMask(std::span<const int> os_indices) {
  for (int os_index : os_indices) add(os_index);
}

AffinityMask AffinityMask::from_words(std::span<const std::uint64_t> words) {
  AffinityMask mask;
  mask.words_.assign(words.begin(), words.end());
  drop_trailing_zeros(mask.words_);
  return mask;
}

void AffinityMask::add(int os_index) {
  if (os_index < 0) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("os_index is {}: a processing unit has a number of 0 or more", os_index));
  }
  const std::size_t word = static_cast<std::size_t>(os_index / kWordBits);
  if (word >= words_.size()) words_.resize(word + 1, 0);
  words_[word] |= std::uint64_t{1} << (os_index % kWordBits);
}

bool AffinityMask::contains(int os_index) const {
  if (os_index < 0) return false;
  const std::size_t word = static_cast<std::size_t>(os_index / kWordBits);
  return word < words_.size() && ((words_[word] >> (os_index % kWordBits)) & 1) != 0;
}

int AffinityMask::count() const {
  int count = 0;
  for (std::uint64_t word : words_) count += std::popcount(word);
  return count;
}

std::vector<int> AffinityMask::processing_units() const {
  std::vector<int> units;
  for (std::size_t index = 0; index < words_.size(); ++index) {
    for (std::uint64_t rest = words_[index]; rest != 0; rest &= rest - 1) {
      units.push_back(static_cast<int>(index) * kWordBits + std::countr_zero(rest));
    }
  }
  return units;
}

bool AffinityMask::intersects(const AffinityMask& other) const { return !(*this & other).empty(); }

bool AffinityMask::is_subset_of(const AffinityMask& other) const {
  return (*this & other) == *this;
}

std::string AffinityMask::to_string() const { return number_ranges(processing_units()); }

AffinityMask operator&(const AffinityMask& left, const AffinityMask& right) {
  AffinityMask both;
  both.words_.resize(std::min(left.words_.size(), right.words_.size()));
  for (std::size_t index = 0; index < both.words_.size(); ++index) {
    both.words_[index] = left.words_[index] & right.words_[index];
  }
  drop_trailing_zeros(both.words_);
  return both;
}

AffinityMask operator|(const AffinityMask& left, const AffinityMask& right) {
  const bool left_is_longer = left.words_.size() >= right.words_.size();
  AffinityMask either = left_is_longer ? left : right;
  const std::vector<std::uint64_t>& shorter = left_is_longer ? right.words_ : left.words_;
  for (std::size_t index = 0; index < shorter.size(); ++index)
    either.words_[index] |= shorter[index];
  return either;
}

std::string number_ranges(std::span<const int> numbers) {
  std::string text;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += end == begin + 1 ? fmt::format("{}", numbers[begin])
                             : fmt::format("{}-{}", numbers[begin], numbers[end - 1]);
    begin = end;
  }
  return text;
}

}  // namespace hycoll
