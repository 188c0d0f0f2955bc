// A machine with pages of 64 KiB, as many with ARM processors have them, for the program that this
// is linked into: mappings begin with such a page, and madvise treats memory as a kernel with such
// pages does, which refuses an address within a page and takes whole pages only.
//
// Not emulated: a mapping has bytes between its end and the page's.

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

namespace {

constexpr std::uintptr_t kPageBytes = 64 * 1024;

std::uintptr_t rounded_up(std::uintptr_t value) {
  return (value + kPageBytes - 1) / kPageBytes * kPageBytes;
}

/// What has been mapped: where it ends, by where it begins. A page of a mapping is no longer than
/// that.
struct Mappings {
  std::mutex mutex;
  std::map<std::uintptr_t, std::uintptr_t> ends;  // guarded by mutex

  void add(std::uintptr_t begin, std::size_t length) {
    const std::scoped_lock lock(mutex);
    ends[begin] = begin + length;
  }
  std::uintptr_t end_of_that_with(std::uintptr_t address) {
    const std::scoped_lock lock(mutex);
    const auto next = ends.upper_bound(address);
    return next == ends.begin() ? UINTPTR_MAX : std::prev(next)->second;
  }
};

Mappings& mappings() {
  static auto& all = *new Mappings;
  return all;
}

void* map(void* address, std::size_t length, int protection, int flags, int file, off_t offset) {
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, length, protection, flags, file, offset));
}

}  // namespace

extern "C" {

long sysconf(int name) noexcept {
  if (name == _SC_PAGESIZE) return kPageBytes;
  static const auto next = reinterpret_cast<long (*)(int)>(dlsym(RTLD_NEXT, "sysconf"));
  return next(name);
}

void* mmap(void* address, std::size_t length, int protection, int flags, int file,
           off_t offset) noexcept {
  if ((flags & MAP_FIXED) != 0) return map(address, length, protection, flags, file, offset);
  constexpr int kReserve = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const reserved = map(nullptr, length + kPageBytes, PROT_NONE, kReserve, -1, 0);
  if (reserved == MAP_FAILED) return MAP_FAILED;
  const auto begin = reinterpret_cast<std::uintptr_t>(reserved);
  const std::uintptr_t first = rounded_up(begin);
  void* const mapped =
      map(reinterpret_cast<void*>(first), length, protection, flags | MAP_FIXED, file, offset);
  if (mapped == MAP_FAILED) {
    const int error = errno;
    munmap(reserved, length + kPageBytes);
    errno = error;
    return MAP_FAILED;
  }
  mappings().add(first, length);
  return mapped;
}

int madvise(void* address, std::size_t length, int advice) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (begin % kPageBytes != 0) {
    errno = EINVAL;
    return -1;
  }
  const std::uintptr_t end_of_mapping = mappings().end_of_that_with(begin);
  std::uintptr_t end = begin + rounded_up(length);
  if (end > end_of_mapping && end - end_of_mapping < kPageBytes) end = end_of_mapping;
  return static_cast<int>(syscall(SYS_madvise, address, end - begin, advice));
}

}  // extern "C"
