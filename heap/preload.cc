// malloc and its relatives for a program that preloads libhycoll_heap.so: with
// HYCOLL_SHARED_HEAP=1, allocations of HYCOLL_SHARED_HEAP_THRESHOLD bytes or more come from the
// shared heap. All others, and everything before this library's constructor has run, go to the C
// library.
//
// The C library's own functions are called by the names that it exports for this purpose, not
// through dlsym, which allocates itself. Which of the two heaps a block is from is told by its
// address. The shared heap's bookkeeping allocates small blocks: they pass through here to the C
// library, so nothing recurs.
#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/base/pages.h"
#include "heap/process_heap.h"

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

using hycoll::Arena;
using hycoll::ProcessHeap;
using Content = hycoll::Arena::Content;

constexpr std::size_t kDefaultThresholdBytes = 64 * 1024;
// Below this, the bookkeeping's own allocations would come back to it.
constexpr std::size_t kLowestThresholdBytes = 32 * 1024;

// SIZE_MAX: off. Zero-initialised memory would mean "everything"; constinit makes it a constant.
constinit std::atomic<std::size_t> threshold_bytes = SIZE_MAX;
constinit std::atomic<ProcessHeap*> heap = nullptr;

__attribute__((constructor)) void start() {
  const char* wanted = std::getenv("HYCOLL_SHARED_HEAP");
  if (wanted == nullptr || std::strcmp(wanted, "1") != 0) return;
  // Pairs with the acquire in shared(): who sees the threshold sees the heap.
  heap.store(&hycoll::own_process_heap(), std::memory_order_relaxed);
  threshold_bytes.store(
      std::max(kLowestThresholdBytes, hycoll::bytes_from_environment("HYCOLL_SHARED_HEAP_THRESHOLD",
                                                                     kDefaultThresholdBytes)),
      std::memory_order_release);
}

/// A block of the shared heap; null if the C library is to serve the request.
void* shared(std::size_t size_bytes, std::size_t alignment_bytes, Content content) {
  // Pairs with the release in start.
  if (size_bytes < threshold_bytes.load(std::memory_order_acquire)) return nullptr;
  if (size_bytes > PTRDIFF_MAX) return nullptr;  // The C library refuses it, and sets errno.
  return heap.load(std::memory_order_relaxed)->allocate(size_bytes, alignment_bytes, content);
}

/// The heap, if the block is from it; else null.
ProcessHeap* heap_of(const void* block) {
  // Whoever has a block of the heap got it from a thread that had seen the heap.
  ProcessHeap* const candidate = heap.load(std::memory_order_relaxed);
  return candidate != nullptr && candidate->contains(block) ? candidate : nullptr;
}

std::size_t usable_size_in_libc(void* block) {
  using Function = std::size_t (*)(void*);
  static const auto function = reinterpret_cast<Function>(
      dlsym(dlopen("libc.so.6", RTLD_NOLOAD | RTLD_NOW), "malloc_usable_size"));
  return function(block);
}

bool is_power_of_two(std::size_t number) { return number != 0 && (number & (number - 1)) == 0; }

void* aligned(std::size_t alignment_bytes, std::size_t size_bytes) {
  if (is_power_of_two(alignment_bytes)) {
    if (void* block = shared(size_bytes, alignment_bytes, Content::any)) return block;
  }
  return __libc_memalign(alignment_bytes, size_bytes);
}

void* moved_from_shared(ProcessHeap& from, void* block, std::size_t size_bytes) {
  if (from.resize(block, size_bytes)) return block;
  void* moved = shared(size_bytes, Arena::kLineBytes, Content::any);
  if (moved == nullptr) moved = __libc_malloc(size_bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(from.size_of(block), size_bytes));
  from.free(block);
  return moved;
}

void* moved_to_shared(void* block, std::size_t size_bytes) {
  void* moved = shared(size_bytes, Arena::kLineBytes, Content::any);
  if (moved == nullptr) return __libc_realloc(block, size_bytes);
  std::memcpy(moved, block, std::min(usable_size_in_libc(block), size_bytes));
  __libc_free(block);
  return moved;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size_bytes) noexcept {
  if (void* block = shared(size_bytes, Arena::kLineBytes, Content::any)) return block;
  return __libc_malloc(size_bytes);
}

void* calloc(std::size_t count, std::size_t size_bytes) noexcept {
  std::size_t total = 0;
  if (!__builtin_mul_overflow(count, size_bytes, &total)) {
    if (void* block = shared(total, Arena::kLineBytes, Content::zero)) return block;
  }
  return __libc_calloc(count, size_bytes);
}

void free(void* block) noexcept {
  if (ProcessHeap* const from = heap_of(block)) {
    const int saved_errno = errno;
    from->free(block);
    errno = saved_errno;
  } else {
    __libc_free(block);
  }
}

void* realloc(void* block, std::size_t size_bytes) noexcept {
  if (ProcessHeap* const from = heap_of(block)) {
    if (size_bytes != 0) return moved_from_shared(*from, block, size_bytes);
    from->free(block);  // As the C library does.
    return nullptr;
  }
  // Pairs with the release in start.
  if (block != nullptr && size_bytes >= threshold_bytes.load(std::memory_order_acquire)) {
    return moved_to_shared(block, size_bytes);
  }
  return block == nullptr ? malloc(size_bytes) : __libc_realloc(block, size_bytes);
}

void* memalign(std::size_t alignment_bytes, std::size_t size_bytes) noexcept {
  return aligned(alignment_bytes, size_bytes);
}

void* aligned_alloc(std::size_t alignment_bytes, std::size_t size_bytes) noexcept {
  return aligned(alignment_bytes, size_bytes);
}

int posix_memalign(void** block, std::size_t alignment_bytes, std::size_t size_bytes) noexcept {
  if (!is_power_of_two(alignment_bytes) || alignment_bytes % sizeof(void*) != 0) return EINVAL;
  const int saved_errno = errno;
  void* made = aligned(alignment_bytes, size_bytes);
  errno = saved_errno;
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

void* valloc(std::size_t size_bytes) noexcept { return aligned(hycoll::page_bytes(), size_bytes); }

void* pvalloc(std::size_t size_bytes) noexcept {
  if (size_bytes > SIZE_MAX - hycoll::page_bytes()) {
    errno = ENOMEM;
    return nullptr;
  }
  return aligned(hycoll::page_bytes(), hycoll::rounded_up_to_pages(size_bytes));
}

std::size_t malloc_usable_size(void* block) noexcept {
  if (block == nullptr) return 0;
  const ProcessHeap* const from = heap_of(block);
  return from != nullptr ? from->size_of(block) : usable_size_in_libc(block);
}
}
