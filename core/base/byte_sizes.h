#ifndef HYCOLL_CORE_BASE_BYTE_SIZES_H_
#define HYCOLL_CORE_BASE_BYTE_SIZES_H_

#include <cstddef>

namespace hycoll {

/// Bytes of a KiB, and of a MiB.
inline constexpr std::size_t kKib = 1024;
inline constexpr std::size_t kMib = 1024 * kKib;

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_BYTE_SIZES_H_
