#ifndef HYCOLL_THREADING_MEMORY_CACHE_LINES_H_
#define HYCOLL_THREADING_MEMORY_CACHE_LINES_H_

#include <cstddef>

namespace hycoll {

inline constexpr std::size_t kCacheLineBytes = 64;

/// The distance that keeps what different workers write apart: two lines, for processors fetch
/// lines in pairs.
inline constexpr std::size_t kSeparationBytes = 128;

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_CACHE_LINES_H_
