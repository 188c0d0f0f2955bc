#ifndef HYCOLL_CORE_BASE_PAGES_H_
#define HYCOLL_CORE_BASE_PAGES_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace hycoll {

/// The unit in which the system gives memory and takes it back: 4 KiB on most machines, 16 or 64
/// KiB on many with ARM processors. madvise refuses addresses within a page, and rounds a length up
/// to whole ones: what it takes back must be rounded here, or the neighbours' bytes go, too.
inline std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

inline std::size_t rounded_down_to_pages(std::size_t bytes) noexcept {
  return bytes / page_bytes() * page_bytes();
}

inline std::size_t rounded_up_to_pages(std::size_t bytes) noexcept {
  return rounded_down_to_pages(bytes + page_bytes() - 1);
}

/// Whether madvise does what it is asked for. Some emulators of processors ignore it and say that
/// they have done it: memory that has been given back holds what it held.
inline bool heeds_advice() noexcept {
  // Linux refuses it where no memory is.
  static const bool heeds = madvise(nullptr, page_bytes(), MADV_REMOVE) != 0;
  return heeds;
}

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_PAGES_H_
