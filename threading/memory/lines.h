#ifndef HYCOLL_THREADING_MEMORY_LINES_H_
#define HYCOLL_THREADING_MEMORY_LINES_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/cache_lines.h"
#include "core/base/line_sizes.h"
#include "threading/memory/call_number.h"

namespace hycoll {

/// One cache line of signal-carrying memory: payload, and a tag that is released after it.
struct alignas(kCacheLineBytes) Line {
  static constexpr std::size_t kWords = 7;
  static constexpr std::size_t kPayloadBytes = kLinePayloadBytes;
  std::atomic<std::uint64_t> payload[kWords];
  std::atomic<std::uint64_t> tag{0};
};
static_assert(sizeof(Line) == kCacheLineBytes);
static_assert(Line::kPayloadBytes == Line::kWords * sizeof(std::uint64_t));

/// Room for what is unpacked from lines: a part may begin and end inside a line.
constexpr std::size_t unpacked_stride_bytes(std::size_t size_bytes) noexcept {
  return (line_count_for(size_bytes) + 1) * Line::kPayloadBytes;
}

/// The tag of a line: the call and a part of the digest of its signature, so that members that
/// disagree find out.
constexpr std::uint64_t line_tag(CallNumber call, std::uint32_t digest) noexcept {
  return (call << 16) | (digest >> 16);
}

/// Writes `size_bytes` bytes into lines. Others may read the same lines meanwhile.
void write_lines(Line* lines, const std::byte* source, std::size_t size_bytes,
                 std::uint64_t tag) noexcept;

/// Copies a part of the payload of lines that have arrived.
inline void read_payload(const Line* lines, std::size_t begin_bytes, std::byte* destination,
                         std::size_t size_bytes) noexcept {
  const Line* line = lines + begin_bytes / Line::kPayloadBytes;
  std::size_t passed_bytes = begin_bytes % Line::kPayloadBytes;
  while (size_bytes > 0) {
    const auto* const payload = reinterpret_cast<const std::byte*>(line++->payload);
    const std::size_t here_bytes = std::min(size_bytes, Line::kPayloadBytes - passed_bytes);
    if (here_bytes == Line::kPayloadBytes) {
      std::memcpy(destination, payload, Line::kPayloadBytes);  // inlined, for its length is known
    } else {
      std::memcpy(destination, payload + passed_bytes, here_bytes);
    }
    passed_bytes = 0;
    destination += here_bytes;
    size_bytes -= here_bytes;
  }
}

/// Brings a cache line into this core's cache for writing, ahead of a later store: then that need
/// not wait until readers have given up their copies. Takes that off the critical path of short
/// collectives.
inline void own_for_writing(const void* address) noexcept {
#if defined(__x86_64__)
  // The builtin would only prefetch for reading unless the whole build targets newer processors.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

/// The same for the lines of a later write_lines.
void own_lines(const Line* lines, std::size_t size_bytes) noexcept;

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_LINES_H_
