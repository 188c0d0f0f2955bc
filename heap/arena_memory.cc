#include "heap/arena_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/pages.h"

// Linux 5.14; Debian 12's glibc has it, older ones do not.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace hycoll {
namespace {

constexpr std::uint64_t kMagic = 0x68796361'72656e31;  // "hycaren1"

/// The first bytes of an arena, by which a neighbour knows that it has opened the right file.
struct Header {
  std::uint64_t magic;
  std::uint64_t id;
  std::uint64_t capacity_bytes;
};
static_assert(sizeof(Header) <= ArenaMemory::kHeaderBytes);

std::uint64_t random_id() {
  std::uint64_t id = 0;
  if (getrandom(&id, sizeof id, 0) != sizeof id) {
    id = (static_cast<std::uint64_t>(getpid()) << 32) ^ reinterpret_cast<std::uintptr_t>(&id);
  }
  return id != 0 ? id : 1;
}

void* map_at(void* address, std::size_t size_bytes, int flags, int file_descriptor) {
  void* mapped =
      mmap(address, size_bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, file_descriptor, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

bool exceeds_file_size_limit(std::size_t size_bytes) {
  // Beyond the limit, ftruncate would not only fail but raise SIGXFSZ.
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         size_bytes > limit.rlim_cur;
}

/// A file in memory of `size_bytes` that cannot shrink; -1 if there is none to be had.
int make_file(std::size_t size_bytes) {
  if (exceeds_file_size_limit(size_bytes)) return -1;
  const int low = memfd_create("hycoll-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (low < 0) return -1;
  // Out of the way of programs that count on the numbers of the descriptors they open.
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const int wanted = static_cast<int>(std::min<rlim_t>(limit.rlim_cur / 2, 1000));
  const int high = fcntl(low, F_DUPFD_CLOEXEC, wanted);
  int file = low;
  if (high >= 0) {
    close(low);
    file = high;
  }
  if (ftruncate(file, static_cast<off_t>(size_bytes)) != 0 ||
      fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    close(file);
    return -1;
  }
  return file;
}

}  // namespace

ArenaMemory::ArenaMemory(std::size_t capacity_bytes)
    : capacity_bytes_(rounded_up_to_pages(capacity_bytes)) {
  const int file = make_file(capacity_bytes_);
  if (file < 0) return;
  void* mapped = map_at(nullptr, capacity_bytes_, MAP_SHARED, file);
  struct stat status {};
  if (mapped == nullptr || fstat(file, &status) != 0 ||
      (madvise(mapped, kHeaderBytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL)) {
    if (mapped != nullptr) munmap(mapped, capacity_bytes_);
    close(file);
    return;
  }
  begin_ = static_cast<std::byte*>(mapped);
  file_descriptor_ = file;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  id_ = random_id();
  // Takes effect where the administrator lets programs choose huge pages for shared memory.
  madvise(begin_, capacity_bytes_, MADV_HUGEPAGE);
  const Header header{kMagic, id_, capacity_bytes_};
  std::memcpy(begin_, &header, sizeof header);
}

ArenaMemory::~ArenaMemory() {
  if (begin_ != nullptr) munmap(begin_, capacity_bytes_);
  if (owns_descriptor()) close(file_descriptor_);
}

bool ArenaMemory::owns_descriptor() const {
  struct stat status {};
  return file_descriptor_ >= 0 && fstat(file_descriptor_, &status) == 0 &&
         status.st_dev == device_ && status.st_ino == inode_;
}

ArenaDescription ArenaMemory::description() const {
  if (!is_shared()) return {};
  return {id_, reinterpret_cast<std::uintptr_t>(begin_), capacity_bytes_, getpid(),
          file_descriptor_};
}

bool ArenaMemory::populate(std::size_t offset, std::size_t size_bytes) {
  const std::size_t first = rounded_down_to_pages(offset);
  return heeds_advice() &&
         madvise(begin_ + first, offset + size_bytes - first, MADV_POPULATE_WRITE) == 0;
}

void ArenaMemory::give_back(std::size_t offset, std::size_t size_bytes) {
  const std::size_t end = offset + size_bytes;
  const std::size_t first = std::min(end, rounded_up_to_pages(offset));
  const std::size_t last = std::max(first, rounded_down_to_pages(end));
  std::memset(begin_ + offset, 0, first - offset);
  std::memset(begin_ + last, 0, end - last);
  if (first == last) return;
  // Through the mapping, not the descriptor, which the program may have closed.
  const int advice = is_shared() ? MADV_REMOVE : MADV_DONTNEED;
  const bool is_given = madvise(begin_ + first, last - first, advice) == 0 && heeds_advice();
  if (!is_given && is_shared()) {
    std::memset(begin_ + first, 0, last - first);
  }
}

void ArenaMemory::before_fork(std::size_t copy_bytes,
                              const std::function<void(std::byte*)>& copy_blocks) {
  if (!is_shared() || copy_bytes == 0) return;
  snapshot_bytes_ = rounded_up_to_pages(copy_bytes);
  snapshot_ =
      static_cast<std::byte*>(map_at(nullptr, snapshot_bytes_, MAP_PRIVATE | MAP_ANONYMOUS, -1));
  if (snapshot_ != nullptr) copy_blocks(snapshot_);
}

void ArenaMemory::after_fork_in_parent() {
  if (snapshot_ != nullptr) munmap(snapshot_, snapshot_bytes_);
  snapshot_ = nullptr;
  snapshot_bytes_ = 0;
}

void ArenaMemory::after_fork_in_child() {
  if (!is_shared()) return;
  const bool has_file = owns_descriptor();
  bool done = false;
  if (snapshot_ != nullptr) {
    done = map_at(begin_, capacity_bytes_, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1) &&
           mremap(snapshot_, snapshot_bytes_, snapshot_bytes_, MREMAP_MAYMOVE | MREMAP_FIXED,
                  begin_) != MAP_FAILED;
  } else if (has_file) {
    done = map_at(begin_, capacity_bytes_, MAP_PRIVATE | MAP_FIXED, file_descriptor_) != nullptr;
  }
  if (!done) {
    // Going on would write into the parent's memory.
    constexpr char kMessage[] = "hycoll: no address space for a child's copy of the shared heap\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
    _exit(127);
  }
  if (has_file) close(file_descriptor_);
  file_descriptor_ = -1;
  id_ = 0;
  snapshot_ = nullptr;
  snapshot_bytes_ = 0;
}

MappedArena::MappedArena(const ArenaDescription& description) {
  if (description.id == 0) return;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", description.process_id,
                description.file_descriptor);
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return;
  // A file that may shrink could take the pages away under a reader.
  struct stat status {};
  const int seals = fcntl(file, F_GET_SEALS);
  const bool fits = seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(file, &status) == 0 &&
                    static_cast<std::uint64_t>(status.st_size) == description.capacity_bytes;
  void* mapped = fits ? map_at(nullptr, description.capacity_bytes, MAP_SHARED, file) : nullptr;
  close(file);
  if (mapped == nullptr) return;
  Header header{};
  std::memcpy(&header, mapped, sizeof header);
  if (header.magic != kMagic || header.id != description.id) {
    munmap(mapped, description.capacity_bytes);
    return;
  }
  data_ = static_cast<std::byte*>(mapped);
  size_bytes_ = description.capacity_bytes;
}

MappedArena::~MappedArena() {
  if (data_ != nullptr) munmap(data_, size_bytes_);
}

}  // namespace hycoll
