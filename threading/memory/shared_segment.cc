#include "threading/memory/shared_segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "core/base/errors.h"
#include "core/base/pages.h"

namespace hycoll {
namespace {

/// Before the bytes: the token. A page, so that the bytes are aligned like one.
std::size_t header_bytes() { return page_bytes(); }

/// Not in the headers of older systems, whose programs may run on younger kernels.
#ifdef MADV_POPULATE_WRITE
constexpr int kPopulate = MADV_POPULATE_WRITE;
#else
constexpr int kPopulate = 23;
#endif

[[noreturn]] void throw_failed(const std::string& what, std::size_t size_bytes, int error) {
  throw Error(ErrorKind::environment,
              fmt::format("shared memory of {} KiB: {} failed: {}; make room in /dev/shm (df "
                          "/dev/shm), ask for less (HYCOLL_STAGING_KIB), or use another layout",
                          size_bytes / 1024, what, std::strerror(error)));
}

/// A file beyond the process's limit would not only be refused but raise SIGXFSZ, which ends most
/// programs.
void check_file_size_limit(std::size_t size_bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (header_bytes() + size_bytes <= limit.rlim_cur) return;
  throw Error(ErrorKind::environment,
              fmt::format("shared memory of {} KiB exceeds this process's limit of {} KiB for "
                          "files; raise it (ulimit -f), ask for less (HYCOLL_STAGING_KIB), or use "
                          "another layout",
                          size_bytes / 1024, limit.rlim_cur / 1024));
}

std::array<std::uint64_t, 2> random_token() {
  std::random_device device;
  std::array<std::uint64_t, 2> token{};
  for (std::uint64_t& word : token) word = static_cast<std::uint64_t>(device()) << 32 | device();
  return token;
}

}  // namespace

SharedSegment::SharedSegment(Kind kind, std::size_t size_bytes)
    : handle_{.kind = kind,
              .process = static_cast<int>(getpid()),
              .size_bytes = size_bytes,
              .token = random_token(),
              .name = {}} {
  try {
    check_file_size_limit(size_bytes);
    create_file();
    if (ftruncate(descriptor_, static_cast<off_t>(header_bytes() + size_bytes)) != 0) {
      throw_failed("ftruncate", size_bytes, errno);
    }
    const int error = posix_fallocate(descriptor_, 0, static_cast<off_t>(header_bytes()));
    if (error != 0) throw_failed("posix_fallocate", size_bytes, error);
    map();
    std::memcpy(mapping_, handle_.token.data(), sizeof(handle_.token));
  } catch (const Error&) {
    close();
    unmap();
    throw;
  }
}

SharedSegment::SharedSegment(const Handle& handle) : handle_(handle) {
  try {
    open_file();
    struct stat status {};
    const bool fits =
        fstat(descriptor_, &status) == 0 &&
        static_cast<std::uint64_t>(status.st_size) == header_bytes() + handle.size_bytes;
    if (fits) map();
    if (!fits || std::memcmp(mapping_, handle.token.data(), sizeof(handle.token)) != 0) {
      throw Error(
          ErrorKind::environment,
          fmt::format("process {} of this machine cannot be reached by its number: it seems "
                      "to run in another container; let them share their process numbers "
                      "and /dev/shm, or use another layout",
                      handle.process));
    }
  } catch (const Error&) {
    close();
    unmap();
    throw;
  }
}

SharedSegment::SharedSegment(SharedSegment&& other) noexcept { *this = std::move(other); }

SharedSegment& SharedSegment::operator=(SharedSegment&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(owns_name_, other.owns_name_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(mapping_, other.mapping_);
  return *this;
}

SharedSegment::~SharedSegment() {
  close();
  unmap();
}

std::span<std::byte> SharedSegment::bytes() const noexcept {
  if (mapping_ == nullptr) return {};
  return {mapping_ + header_bytes(), static_cast<std::size_t>(handle_.size_bytes)};
}

void SharedSegment::create_file() {
  if (handle_.kind == Kind::anonymous) {
    descriptor_ = memfd_create("hycoll", MFD_CLOEXEC);
    if (descriptor_ < 0) throw_failed("memfd_create", handle_.size_bytes, errno);
    handle_.descriptor = descriptor_;
    return;
  }
  const std::string name =
      fmt::format("/hycoll-{}-{:016x}", handle_.process, handle_.token[0] ^ handle_.token[1]);
  std::memcpy(handle_.name.data(), name.c_str(), name.size() + 1);
  descriptor_ = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor_ < 0) throw_failed("shm_open", handle_.size_bytes, errno);
  owns_name_ = true;
}

void SharedSegment::open_file() {
  if (handle_.kind == Kind::anonymous) {
    const std::string path = fmt::format("/proc/{}/fd/{}", handle_.process, handle_.descriptor);
    // Between containers the number may mean another process's file, of any kind.
    descriptor_ = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor_ < 0) throw_failed("opening " + path, handle_.size_bytes, errno);
    return;
  }
  descriptor_ = shm_open(handle_.name.data(), O_RDWR | O_CLOEXEC, 0);
  if (descriptor_ < 0) throw_failed("shm_open", handle_.size_bytes, errno);
}

void SharedSegment::map() {
  void* const address = mmap(nullptr, header_bytes() + static_cast<std::size_t>(handle_.size_bytes),
                             PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (address == MAP_FAILED) throw_failed("mmap", handle_.size_bytes, errno);
  mapping_ = static_cast<std::byte*>(address);
}

void SharedSegment::unmap() noexcept {
  if (mapping_ != nullptr) {
    munmap(mapping_, header_bytes() + static_cast<std::size_t>(handle_.size_bytes));
  }
  mapping_ = nullptr;
}

void SharedSegment::reserve(std::size_t offset_bytes, std::size_t size_bytes) {
  check_file_size_limit(offset_bytes + size_bytes);
  int error = EINTR;
  while (error == EINTR) {
    error = posix_fallocate(descriptor_, static_cast<off_t>(header_bytes() + offset_bytes),
                            static_cast<off_t>(size_bytes));
  }
  if (error != 0) throw_failed("posix_fallocate", handle_.size_bytes, error);
}

bool SharedSegment::can_reserve_mapped() noexcept {
  // Of no bytes: whether the kernel knows the advice.
  static const bool can = heeds_advice() && madvise(nullptr, 0, kPopulate) == 0;
  return can;
}

void SharedSegment::reserve_mapped(std::size_t offset_bytes, std::size_t size_bytes) {
  const std::size_t begin = rounded_down_to_pages(offset_bytes);
  int result = -1;
  do {
    result =
        madvise(mapping_ + header_bytes() + begin, offset_bytes + size_bytes - begin, kPopulate);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  // Where touching the memory would raise SIGBUS the kernel says EFAULT.
  if (result != 0) throw_failed("madvise", size_bytes, errno == EFAULT ? ENOSPC : errno);
}

void SharedSegment::release_mapped(std::size_t offset_bytes, std::size_t size_bytes) noexcept {
  const std::size_t begin = rounded_up_to_pages(offset_bytes);
  const std::size_t end = rounded_down_to_pages(offset_bytes + size_bytes);
  if (begin >= end) return;
  std::byte* const pages = mapping_ + header_bytes() + begin;
  madvise(pages, end - begin, MADV_REMOVE);
  if (!heeds_advice()) std::memset(pages, 0, end - begin);
}

void SharedSegment::close() noexcept {
  if (owns_name_) shm_unlink(handle_.name.data());
  owns_name_ = false;
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace hycoll
