#ifndef HYCOLL_CORE_BASE_LINE_SIZES_H_
#define HYCOLL_CORE_BASE_LINE_SIZES_H_

#include <cstddef>

namespace hycoll {

/// What a cache line carries besides the signal that it has been written.
inline constexpr std::size_t kLinePayloadBytes = 56;

/// The number of lines that carry this many bytes; at least one, so that an empty vector still
/// signals.
constexpr std::size_t line_count_for(std::size_t size_bytes) noexcept {
  return size_bytes == 0 ? 1 : (size_bytes + kLinePayloadBytes - 1) / kLinePayloadBytes;
}

/// The largest vector, in bytes, that a lines buffer holds.
inline constexpr std::size_t kMaximumLinesBytes = 16 * 1024;

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_LINE_SIZES_H_
