#ifndef HYCOLL_THREADING_MEMORY_SEPARATE_H_
#define HYCOLL_THREADING_MEMORY_SEPARATE_H_

#include <cstddef>
#include <new>
#include <vector>

#include "threading/memory/node_memory.h"

namespace hycoll {

/// Allocates memory that shares no cache line, and no pair of lines, with anything else.
template <class T>
struct SeparateAllocator {
  using value_type = T;

  SeparateAllocator() = default;
  template <class U>
  explicit SeparateAllocator(const SeparateAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    const std::size_t size_bytes =
        (count * sizeof(T) + kSeparationBytes - 1) / kSeparationBytes * kSeparationBytes;
    return static_cast<T*>(::operator new(size_bytes, kAlignment));
  }
  void deallocate(T* memory, std::size_t) noexcept { ::operator delete(memory, kAlignment); }

  friend bool operator==(const SeparateAllocator&, const SeparateAllocator&) = default;

 private:
  static constexpr std::align_val_t kAlignment{kSeparationBytes};
  static_assert(alignof(T) <= kSeparationBytes);
};

/// What one worker writes in every call, while the others read what has been allocated next to it.
template <class T>
using SeparateVector = std::vector<T, SeparateAllocator<T>>;

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_SEPARATE_H_
