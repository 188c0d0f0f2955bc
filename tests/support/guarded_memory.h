#ifndef HYCOLL_TESTS_SUPPORT_GUARDED_MEMORY_H_
#define HYCOLL_TESTS_SUPPORT_GUARDED_MEMORY_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

// For tests and for programs that know nothing of hycoll.

/// Memory that ends where a page ends behind which nothing can be read or written; so does a page
/// before it.
class GuardedMemory {
 public:
  /// Filled with this byte.
  GuardedMemory(std::size_t size_bytes, std::byte fill) : size_bytes_(size_bytes) {
    const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t used_bytes = (size_bytes + page_bytes - 1) / page_bytes * page_bytes;
    mapped_bytes_ = used_bytes + 2 * page_bytes;
    void* const mapping =
        mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) std::abort();
    mapping_ = static_cast<std::byte*>(mapping);
    std::byte* const used = mapping_ + page_bytes;
    if (used_bytes > 0 && mprotect(used, used_bytes, PROT_READ | PROT_WRITE) != 0) std::abort();
    data_ = used + (used_bytes - size_bytes);
    if (size_bytes > 0) std::memset(data_, static_cast<int>(fill), size_bytes);
  }
  ~GuardedMemory() { munmap(mapping_, mapped_bytes_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_bytes_; }

 private:
  std::size_t size_bytes_;
  std::size_t mapped_bytes_ = 0;
  std::byte* mapping_ = nullptr;
  std::byte* data_ = nullptr;
};

#endif  // HYCOLL_TESTS_SUPPORT_GUARDED_MEMORY_H_
