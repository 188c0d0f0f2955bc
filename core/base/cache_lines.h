#ifndef HYCOLL_CORE_BASE_CACHE_LINES_H_
#define HYCOLL_CORE_BASE_CACHE_LINES_H_

#include <cstddef>

namespace hycoll {

/// The line of x86 processors and of most ARM processors. Some of the latter have lines of 128 or
/// 256 bytes: what is laid out by this is right there, too, for atomic operations make the order,
/// and never a line. Not the compiler's constants (std::hardware_destructive_interference_size),
/// which change with its options: processes lay out memory by this that they share.
inline constexpr std::size_t kCacheLineBytes = 64;

/// The distance that keeps what different workers write apart. x86 processors fetch lines in pairs;
/// elsewhere it is the longest line that there is.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr std::size_t kSeparationBytes = 128;
#else
inline constexpr std::size_t kSeparationBytes = 256;
#endif

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_CACHE_LINES_H_
