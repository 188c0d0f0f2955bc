#ifndef HYCOLL_THREADING_MEMORY_SHARED_TEXT_H_
#define HYCOLL_THREADING_MEMORY_SHARED_TEXT_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace hycoll {

/// A text of bounded length in memory that several processes may have mapped. Longer ones are cut.
/// Whoever reads while it is written gets a mixture; order is the business of the owner.
class SharedText {
 public:
  static constexpr std::size_t kMaximumBytes = 1024;

  void write(std::string_view text) noexcept {
    const std::size_t size = std::min(text.size(), kMaximumBytes);
    size_.store(size, std::memory_order_relaxed);
    for (std::size_t begin = 0; begin < size; begin += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + begin, std::min(size - begin, sizeof(word)));
      words_[begin / sizeof(word)].store(word, std::memory_order_relaxed);
    }
  }

  std::string read() const {
    std::string text(std::min<std::size_t>(size_.load(std::memory_order_relaxed), kMaximumBytes),
                     ' ');
    for (std::size_t begin = 0; begin < text.size(); begin += sizeof(std::uint64_t)) {
      const std::uint64_t word = words_[begin / sizeof(word)].load(std::memory_order_relaxed);
      std::memcpy(text.data() + begin, &word, std::min(text.size() - begin, sizeof(word)));
    }
    return text;
  }

 private:
  std::atomic<std::size_t> size_{0};
  std::array<std::atomic<std::uint64_t>, kMaximumBytes / sizeof(std::uint64_t)> words_{};
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_SHARED_TEXT_H_
