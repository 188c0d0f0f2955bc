#ifndef HYCOLL_HEAP_PROCESS_HEAP_H_
#define HYCOLL_HEAP_PROCESS_HEAP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "core/base/cache_lines.h"
#include "heap/arena.h"

namespace hycoll {

/// What this process's mappings of its neighbours' arenas come to, of all caches. Statistics only.
struct MappingCounts {
  std::atomic<std::size_t> arenas = 0;  ///< Mapped now.
  std::atomic<std::size_t> bytes = 0;   ///< Of address space, now.
  std::atomic<std::size_t> made = 0;    ///< So far.
  std::atomic<std::size_t> hits = 0;    ///< Accesses so far that found their arena mapped.
};

/// The one arena of this process, made when it is first needed, with what the environment says
/// about it: HYCOLL_SHARED_HEAP_LIMIT (bytes; suffixes K, M, G, T) is its capacity, by default the
/// machine's memory, or less if that many processes of that size would not fit an address space.
///
/// Every function may be called concurrently, and from inside malloc: no function allocates more
/// than a few KiB.
class ProcessHeap {
 public:
  ProcessHeap() = default;
  ProcessHeap(const ProcessHeap&) = delete;
  ProcessHeap& operator=(const ProcessHeap&) = delete;

  /// A block; null if there is no arena or it is full: then the caller takes private memory. The
  /// first time, one line on stderr says so.
  void* allocate(std::size_t size_bytes, std::size_t alignment_bytes, Arena::Content content);

  /// Whether the address lies in this process's arena: two comparisons.
  bool contains(const void* address) const {
    const auto value = reinterpret_cast<std::uintptr_t>(address);
    // Pairs with the release in arena(): who sees the beginning sees the end. Before that, no
    // address is greater than the beginning.
    return value >= begin_.load(std::memory_order_acquire) &&
           value < end_.load(std::memory_order_relaxed);
  }

  /// The address's place in the arena; nullopt if it lies elsewhere, or neighbours cannot see it.
  std::optional<std::uint64_t> shared_offset(const void* address) const;

  /// Requires, for all three: contains(address); see Arena.
  void free(void* address) { arena_->free(address); }
  bool resize(void* address, std::size_t size_bytes) { return arena_->resize(address, size_bytes); }
  std::size_t size_of(const void* address) const { return arena_->size_of(address); }

  /// What neighbours need to map the arena, which is made if there is none yet. id 0: there is none
  /// to be had.
  ArenaDescription describe();

  /// The arena's id; 0 if there is none yet, or it is not shared.
  std::uint64_t id() const { return id_.load(std::memory_order_acquire); }
  bool is_own(std::uint64_t other_id) const { return other_id != 0 && other_id == id(); }

  ArenaUsage usage() const;
  std::size_t private_fallbacks() const {
    return private_fallbacks_.load(std::memory_order_relaxed);  // A statistic.
  }

  /// Kept here because several libraries may contain a copy of the code that counts.
  MappingCounts& mappings() { return mappings_; }
  const MappingCounts& mappings() const { return mappings_; }

  /// For pthread_atfork.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  Arena* arena();
  void make_arena(const ArenaLimits& limits);
  void fall_back(const char* reason);

  std::atomic<std::uintptr_t> begin_ = UINTPTR_MAX;
  std::atomic<std::uintptr_t> end_ = 0;
  std::atomic<std::uint64_t> id_ = 0;
  std::atomic<bool> tried_ = false;  ///< Whether arena_ has its final value.
  std::atomic<bool> told_ = false;
  std::atomic<std::size_t> private_fallbacks_ = 0;
  std::mutex mutex_;  ///< Held while the arena is made.
  std::optional<Arena> arena_;
  alignas(kCacheLineBytes) MappingCounts mappings_;  ///< Apart from what every allocation reads.
};

/// The heap of this process: also where several libraries contain a copy of this code, the one
/// whose symbol hycoll_process_heap_v2 the dynamic linker finds first. Never destroyed.
ProcessHeap& process_heap();

/// The copy that this library contains, for the library that is preloaded.
ProcessHeap& own_process_heap();

/// "65536", "64K", "2M", "1G" or "1T" in bytes; nullopt if `text` is nothing of the kind.
std::optional<std::size_t> parse_bytes(const char* text);

/// The variable's value in bytes, or `otherwise` if it is unset; if it says nothing usable, one
/// line on stderr says so and `otherwise` holds.
std::size_t bytes_from_environment(const char* variable, std::size_t otherwise);

}  // namespace hycoll

#endif  // HYCOLL_HEAP_PROCESS_HEAP_H_
