#ifndef HYCOLL_TESTS_SUPPORT_GUARDED_MEMORY_H_
#define HYCOLL_TESTS_SUPPORT_GUARDED_MEMORY_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

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

/// Gives a third of all containers, by their lengths, such memory: what is read or written behind
/// the last element ends the program. Not to all, since fresh pages are slow.
template <class T>
struct GuardedAllocator {
  using value_type = T;

  GuardedAllocator() = default;
  template <class U>
  GuardedAllocator(const GuardedAllocator<U>& /*other*/) noexcept {}

  T* allocate(std::size_t count) {
    if (!is_guarded(count)) return std::allocator<T>().allocate(count);
    const Place place(count);
    void* const mapping = mmap(nullptr, place.mapped_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) std::abort();
    std::byte* const guard = static_cast<std::byte*>(mapping) + place.used_bytes;
    if (mprotect(guard, place.mapped_bytes - place.used_bytes, PROT_NONE) != 0) std::abort();
    return reinterpret_cast<T*>(guard - count * sizeof(T));
  }
  void deallocate(T* data, std::size_t count) noexcept {
    if (!is_guarded(count)) return std::allocator<T>().deallocate(data, count);
    const Place place(count);
    munmap(reinterpret_cast<std::byte*>(data + count) - place.used_bytes, place.mapped_bytes);
  }

  friend bool operator==(GuardedAllocator, GuardedAllocator) { return true; }

 private:
  static bool is_guarded(std::size_t count) { return count % 3 == 1; }

  struct Place {
    explicit Place(std::size_t count) {
      const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
      used_bytes = (count * sizeof(T) + page_bytes - 1) / page_bytes * page_bytes;
      mapped_bytes = used_bytes + page_bytes;
    }
    std::size_t used_bytes;
    std::size_t mapped_bytes;
  };
};

#endif  // HYCOLL_TESTS_SUPPORT_GUARDED_MEMORY_H_
