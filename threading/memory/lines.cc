#include "threading/memory/lines.h"

#include <bit>

namespace hycoll {
namespace {

/// The first bytes of a word, in pieces whose sizes the compiler knows, and put together in a
/// register: a word that is loaded where its parts have just been stored is waited for.
std::uint64_t short_word(const std::byte* from, std::size_t size_bytes) noexcept {
  std::uint64_t word = 0;
  std::size_t done = 0;
  const auto take = [&]<class Piece>(Piece piece) {
    if ((size_bytes & sizeof(piece)) == 0) return;
    std::memcpy(&piece, from + done, sizeof(piece));
    const std::size_t bytes_below =
        std::endian::native == std::endian::little ? done : sizeof(word) - sizeof(piece) - done;
    word |= std::uint64_t{piece} << (8 * bytes_below);
    done += sizeof(piece);
  };
  take(std::uint32_t{});
  take(std::uint16_t{});
  take(std::uint8_t{});
  return word;
}

}  // namespace

void write_lines(Line* lines, const std::byte* source, std::size_t size_bytes,
                 std::uint64_t tag) noexcept {
  const std::size_t line_count = line_count_for(size_bytes);
  for (std::size_t l = 0; l < line_count; ++l) {
    const std::size_t offset = l * Line::kPayloadBytes;
    const std::size_t bytes = std::min(size_bytes - offset, Line::kPayloadBytes);
    const std::size_t whole_words = bytes / sizeof(std::uint64_t);
    const std::byte* from = source + offset;
    for (std::size_t w = 0; w < whole_words; ++w, from += sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, from, sizeof(word));
      lines[l].payload[w].store(word, std::memory_order_relaxed);
    }
    const std::size_t rest = bytes % sizeof(std::uint64_t);
    if (rest > 0) {
      lines[l].payload[whole_words].store(short_word(from, rest), std::memory_order_relaxed);
    }
    // Pairs with the acquiring load of the tag by the reader (executor.cc).
    lines[l].tag.store(tag, std::memory_order_release);
  }
}

void own_lines(const Line* lines, std::size_t size_bytes) noexcept {
  const std::size_t line_count = line_count_for(size_bytes);
  for (std::size_t l = 0; l < line_count; ++l) {
    own_for_writing(&lines[l]);
  }
}

}  // namespace hycoll
