#ifndef HYCOLL_HEAP_MAPPING_CACHE_H_
#define HYCOLL_HEAP_MAPPING_CACHE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "heap/arena_memory.h"

namespace hycoll {

/// One process's mappings of the arenas of its neighbours, made on first use and kept: after that,
/// a neighbour's block costs one addition instead of system calls (the cache of buffer mappings of
/// Blue Gene/P's shared-address collectives).
///
/// Why no mapping is ever stale. An arena is mapped whole, once, from offset 0 of its file, and the
/// owner's address of a byte is its offset plus a constant for the arena's whole life. So a mapping
/// says nothing about blocks: it shows the same bytes as the owner's own addresses do, at every
/// moment. When a block is freed and its pages are given back, the kernel takes them out of every
/// process's mapping; a later access reads what the owner would read there, zeros or the next
/// block. The file is sealed against shrinking, so that no access meets its end. A description is
/// bound to its arena by a random id in the arena's first bytes, so that neither a process nor a
/// descriptor with a reused number is taken for it; and the mapping keeps the pages of a neighbour
/// that ended. What remains for callers is what holds for the owner's threads too: a block must not
/// be read after it was freed.
///
/// All caches of a process share their mappings; one is dropped with the last cache that uses it.
/// resolve may be called concurrently.
class MappingCache {
 public:
  /// `neighbours[i]` describes the arena of process i; id 0: none. One of them may be this process
  /// itself; its blocks resolve to their own addresses.
  explicit MappingCache(std::span<const ArenaDescription> neighbours);

  /// Where this process sees [offset, offset + size_bytes) of process `process`'s arena. Null if
  /// that process has no arena, it cannot be mapped here (tried once), or the range is not inside
  /// it. Requires: process < size().
  std::byte* resolve(std::size_t process, std::uint64_t offset, std::size_t size_bytes);

  /// The same for an address of that process; null also if it lies outside its arena.
  std::byte* resolve_address(std::size_t process, std::uint64_t address, std::size_t size_bytes);

  std::size_t size() const { return neighbours_.size(); }

  /// How many bytes of address space the mappings take.
  std::size_t mapped_bytes() const;

 private:
  struct Neighbour {
    ArenaDescription description;
    std::atomic<std::byte*> begin = nullptr;  ///< Null until mapped.
    std::atomic<bool> tried = false;
    bool is_own = false;                         ///< This process itself. Written before begin is.
    std::shared_ptr<const MappedArena> mapping;  ///< Guarded by mutex_; null for this process.
  };

  std::byte* map(Neighbour& neighbour);

  std::vector<std::unique_ptr<Neighbour>> neighbours_;
  mutable std::mutex mutex_;
};

}  // namespace hycoll

#endif  // HYCOLL_HEAP_MAPPING_CACHE_H_
