#include "hycoll/heap.h"

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "heap/process_heap.h"

namespace hycoll {
namespace {

constexpr std::size_t kAlignment = Arena::kLineBytes;

/// A shared block, or a private one; null and ENOMEM if there is neither.
void* shared_or_private(std::size_t size_bytes, std::size_t alignment_bytes,
                        Arena::Content content) {
  alignment_bytes = std::max(alignment_bytes, kAlignment);
  if (void* block = process_heap().allocate(size_bytes, alignment_bytes, content)) return block;
  void* block = nullptr;
  if (const int error =
          posix_memalign(&block, alignment_bytes, std::max<std::size_t>(size_bytes, 1))) {
    errno = error;
    return nullptr;
  }
  if (content == Arena::Content::zero) std::memset(block, 0, size_bytes);
  return block;
}

}  // namespace

void* allocate(std::size_t size_bytes, std::size_t alignment_bytes) {
  void* block = shared_or_private(size_bytes, alignment_bytes, Arena::Content::any);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void deallocate(void* block) noexcept {
  if (block == nullptr) return;
  if (process_heap().contains(block)) {
    process_heap().free(block);
  } else {
    std::free(block);
  }
}

std::optional<HeapAddress> announce(const void* address) noexcept {
  const ProcessHeap& heap = process_heap();
  const auto offset = heap.shared_offset(address);
  if (!offset) return std::nullopt;
  return HeapAddress{heap.id(), *offset};
}

HeapUsage heap_usage() {
  const ProcessHeap& heap = process_heap();
  const ArenaUsage usage = heap.usage();
  const MappingCounts& mappings = heap.mappings();
  // Statistics, which order nothing.
  return {.block_bytes = usage.block_bytes,
          .block_count = usage.block_count,
          .peak_block_bytes = usage.peak_block_bytes,
          .kept_bytes = usage.kept_bytes,
          .capacity_bytes = usage.capacity_bytes,
          .private_fallbacks = heap.private_fallbacks(),
          .mapped_arenas = mappings.arenas.load(std::memory_order_relaxed),
          .mapped_bytes = mappings.bytes.load(std::memory_order_relaxed),
          .mappings_made = mappings.made.load(std::memory_order_relaxed),
          .mapping_hits = mappings.hits.load(std::memory_order_relaxed)};
}

}  // namespace hycoll

extern "C" {

void* hycoll_malloc(size_t size_bytes) {
  return hycoll::shared_or_private(size_bytes, hycoll::kAlignment, hycoll::Arena::Content::any);
}

void* hycoll_calloc(size_t count, size_t size_bytes) {
  size_t total = 0;
  if (__builtin_mul_overflow(count, size_bytes, &total)) {
    errno = ENOMEM;
    return nullptr;
  }
  return hycoll::shared_or_private(total, hycoll::kAlignment, hycoll::Arena::Content::zero);
}

void* hycoll_aligned_alloc(size_t alignment_bytes, size_t size_bytes) {
  if (alignment_bytes == 0 || (alignment_bytes & (alignment_bytes - 1)) != 0) {
    errno = EINVAL;
    return nullptr;
  }
  return hycoll::shared_or_private(size_bytes, alignment_bytes, hycoll::Arena::Content::any);
}

void* hycoll_realloc(void* block, size_t size_bytes) {
  if (block == nullptr) return hycoll_malloc(size_bytes);
  hycoll::ProcessHeap& heap = hycoll::process_heap();
  const bool shared = heap.contains(block);
  if (shared && heap.resize(block, size_bytes)) return block;
  void* moved = hycoll_malloc(size_bytes);
  if (moved == nullptr) return nullptr;
  const std::size_t old_size = shared ? heap.size_of(block) : malloc_usable_size(block);
  std::memcpy(moved, block, std::min(old_size, size_bytes));
  hycoll::deallocate(block);
  return moved;
}

void hycoll_free(void* block) { hycoll::deallocate(block); }

void hycoll_get_heap_usage(struct hycoll_heap_usage* usage) { *usage = hycoll::heap_usage(); }
}
