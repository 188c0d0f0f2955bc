#include "heap/process_heap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>

#include "core/base/lifetime.h"
#include "heap/available_memory.h"

namespace hycoll {
namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30;
constexpr const char* kLimitVariable = "HYCOLL_SHARED_HEAP_LIMIT";

/// What all processes of a node may map together, of the 128 TiB that an address space has.
constexpr std::size_t kMappedBytes = 65536 * kGiB;

void say(const char* format, const char* text, const char* more) {
  char line[256];
  const int length = std::snprintf(line, sizeof line, format, text, more, getpid());
  const std::size_t size = std::min<std::size_t>(sizeof line - 1, std::max(length, 0));
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line, size);
}

/// valgrind reads all mapped memory when it looks for leaks at the end, and so fills it with pages.
constexpr std::size_t kCapacityUnderValgrind = kGiB / 4;

/// By what valgrind preloads under every program.
bool runs_under_valgrind() {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr && std::strstr(preloaded, "vgpreload_core") != nullptr;
}

std::size_t default_capacity_bytes() {
  const auto cores = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF)));
  const std::size_t total = total_memory_bytes();
  std::size_t capacity = std::min(total == SIZE_MAX ? 64 * kGiB : total, kMappedBytes / cores);
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    // The reservation counts although it takes no memory.
    capacity = std::min<std::size_t>(capacity, limit.rlim_cur / 4);
  }
  return runs_under_valgrind() ? std::min(capacity, kCapacityUnderValgrind) : capacity;
}

bool overcommits() {
  std::ifstream file("/proc/sys/vm/overcommit_memory");
  int mode = 0;
  return !(file >> mode) || mode != 2;
}

ArenaLimits limits_from_environment() {
  ArenaLimits limits;
  limits.capacity_bytes = bytes_from_environment(kLimitVariable, default_capacity_bytes());
  limits.commit = overcommits() ? ArenaLimits::Commit::on_touch : ArenaLimits::Commit::on_allocate;
  limits.available_bytes = [memory = AvailableMemory()] { return memory.bytes(); };
  return limits;
}

}  // namespace

std::optional<std::size_t> parse_bytes(const char* text) {
  if (*text < '0' || *text > '9') return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = std::strtoull(text, &end, 10);
  if (errno != 0) return std::nullopt;
  int shift = 0;
  if (*end != '\0') {
    constexpr const char* kSuffixes = "KMGT";
    const char* suffix = std::strchr(kSuffixes, *end);
    if (suffix == nullptr || end[1] != '\0') return std::nullopt;
    shift = 10 * static_cast<int>(suffix - kSuffixes + 1);
  }
  if (number > (SIZE_MAX >> shift)) return std::nullopt;
  return static_cast<std::size_t>(number) << shift;
}

std::size_t bytes_from_environment(const char* variable, std::size_t otherwise) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  if (const auto bytes = parse_bytes(text)) return *bytes;
  say("hycoll: %s=%s is ignored; expected bytes, such as 65536, 64K, 2M or 1G (process %d)\n",
      variable, text);
  return otherwise;
}

void ProcessHeap::make_arena(const ArenaLimits& limits) {
  const Arena& made = arena_.emplace(limits);
  if (!made.is_valid()) {
    arena_.reset();
    return;
  }
  const ArenaMemory& memory = made.memory();
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.begin());
  end_.store(begin + memory.capacity_bytes(), std::memory_order_relaxed);
  id_.store(memory.description().id, std::memory_order_release);  // Pairs with id().
  begin_.store(begin, std::memory_order_release);                 // Pairs with contains.
}

Arena* ProcessHeap::arena() {
  // Pairs with the release below: who sees that it was tried sees the arena.
  if (!tried_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    if (!tried_.load(std::memory_order_relaxed)) {  // Written under the mutex only.
      const int saved_errno = errno;
      const ArenaLimits limits = limits_from_environment();
      if (limits.capacity_bytes > 0) make_arena(limits);
      tried_.store(true, std::memory_order_release);  // Pairs with the load above.
      errno = saved_errno;
    }
  }
  return arena_ ? &*arena_ : nullptr;
}

void* ProcessHeap::allocate(std::size_t size_bytes, std::size_t alignment_bytes,
                            Arena::Content content) {
  Arena* const heap = arena();
  if (heap == nullptr) {
    fall_back("the system gives no shared memory for it");
    return nullptr;
  }
  void* block = heap->allocate(size_bytes, alignment_bytes, content);
  if (block == nullptr && id() != 0) fall_back("it is full, or the system's memory is");
  return block;
}

void ProcessHeap::fall_back(const char* reason) {
  private_fallbacks_.fetch_add(1, std::memory_order_relaxed);   // A statistic.
  if (told_.exchange(true, std::memory_order_relaxed)) return;  // Orders nothing but itself.
  const int saved_errno = errno;
  say("hycoll: shared heap: %s; memory is private where it cannot serve (%s, process %d)\n", reason,
      kLimitVariable);
  errno = saved_errno;
}

std::optional<std::uint64_t> ProcessHeap::shared_offset(const void* address) const {
  if (!contains(address) || id() == 0) return std::nullopt;
  // contains has acquired the beginning.
  return reinterpret_cast<std::uintptr_t>(address) - begin_.load(std::memory_order_relaxed);
}

ArenaDescription ProcessHeap::describe() {
  Arena* const heap = arena();
  return heap == nullptr ? ArenaDescription{} : heap->memory().description();
}

ArenaUsage ProcessHeap::usage() const {
  return tried_.load(std::memory_order_acquire) && arena_  // Pairs with arena().
             ? arena_->usage()
             : ArenaUsage{};
}

void ProcessHeap::before_fork() {
  mutex_.lock();
  if (arena_) arena_->before_fork();
}

void ProcessHeap::after_fork_in_parent() {
  if (arena_) arena_->after_fork_in_parent();
  mutex_.unlock();
}

void ProcessHeap::after_fork_in_child() {
  id_.store(0, std::memory_order_relaxed);  // The child has one thread.
  if (arena_) arena_->after_fork_in_child();
  mutex_.unlock();
}

ProcessHeap& own_process_heap() {
  // Blocks are freed until the very end.
  static Immortal heap([] {
    pthread_atfork([] { own_process_heap().before_fork(); },
                   [] { own_process_heap().after_fork_in_parent(); },
                   [] { own_process_heap().after_fork_in_child(); });
    return ProcessHeap();
  });
  return *heap;
}

}  // namespace hycoll

extern "C" __attribute__((visibility("default"), used)) hycoll::ProcessHeap*
hycoll_process_heap_v2() {
  return &hycoll::own_process_heap();
}

namespace hycoll {

ProcessHeap& process_heap() {
  static ProcessHeap* const heap = [] {
    using Finder = ProcessHeap* (*)();
    const auto find = reinterpret_cast<Finder>(dlsym(RTLD_DEFAULT, "hycoll_process_heap_v2"));
    return find != nullptr ? find() : &own_process_heap();
  }();
  return *heap;
}

}  // namespace hycoll
