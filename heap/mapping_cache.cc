#include "heap/mapping_cache.h"

#include <map>

#include "core/base/lifetime.h"
#include "heap/process_heap.h"

namespace hycoll {
namespace {

/// An arena that is mapped anew, and counted as long as it is.
std::shared_ptr<const MappedArena> make_mapping(const ArenaDescription& description) {
  auto arena = std::make_unique<const MappedArena>(description);
  if (arena->data() == nullptr) return arena;
  // Statistics, which order nothing.
  MappingCounts& counts = process_heap().mappings();
  const std::size_t size_bytes = description.capacity_bytes;
  counts.made.fetch_add(1, std::memory_order_relaxed);
  counts.arenas.fetch_add(1, std::memory_order_relaxed);
  counts.bytes.fetch_add(size_bytes, std::memory_order_relaxed);
  return {arena.release(), [&counts, size_bytes](const MappedArena* mapped) {
            delete mapped;
            counts.arenas.fetch_sub(1, std::memory_order_relaxed);
            counts.bytes.fetch_sub(size_bytes, std::memory_order_relaxed);
          }};
}

/// The mapping of an arena that some cache of this process has, or a new one.
std::shared_ptr<const MappedArena> mapping_of(const ArenaDescription& description) {
  using MappingsById = std::map<std::uint64_t, std::weak_ptr<const MappedArena>>;
  static std::mutex mutex;
  static Immortal<MappingsById> mappings;  // Guarded by mutex.
  const std::lock_guard lock(mutex);
  std::erase_if(*mappings, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const MappedArena>& known = (*mappings)[description.id];
  std::shared_ptr<const MappedArena> mapping = known.lock();
  if (mapping == nullptr) {
    mapping = make_mapping(description);
    // What cannot be mapped now may be mapped later.
    if (mapping->data() != nullptr) known = mapping;
  }
  return mapping;
}

}  // namespace

MappingCache::MappingCache(std::span<const ArenaDescription> neighbours) {
  neighbours_.reserve(neighbours.size());
  for (const ArenaDescription& description : neighbours) {
    neighbours_.push_back(std::make_unique<Neighbour>());
    neighbours_.back()->description = description;
  }
}

std::byte* MappingCache::resolve(std::size_t process, std::uint64_t offset,
                                 std::size_t size_bytes) {
  Neighbour& neighbour = *neighbours_[process];
  const std::uint64_t capacity = neighbour.description.capacity_bytes;
  if (neighbour.description.id == 0 || offset > capacity || size_bytes > capacity - offset) {
    return nullptr;
  }
  // Pairs with the release in map: who sees the address sees the mapping.
  std::byte* begin = neighbour.begin.load(std::memory_order_acquire);
  if (begin == nullptr) {
    begin = map(neighbour);
  } else if (!neighbour.is_own) {
    process_heap().mappings().hits.fetch_add(1, std::memory_order_relaxed);  // A statistic.
  }
  return begin == nullptr ? nullptr : begin + offset;
}

std::byte* MappingCache::resolve_address(std::size_t process, std::uint64_t address,
                                         std::size_t size_bytes) {
  const std::uint64_t begin = neighbours_[process]->description.begin;
  return address < begin ? nullptr : resolve(process, address - begin, size_bytes);
}

std::byte* MappingCache::map(Neighbour& neighbour) {
  // Only says that there is nothing to be had; what there is to be had is in `begin`.
  if (neighbour.tried.load(std::memory_order_acquire)) {
    return neighbour.begin.load(std::memory_order_acquire);  // Pairs with the release below.
  }
  const std::lock_guard lock(mutex_);
  if (!neighbour.tried.load(std::memory_order_relaxed)) {  // Written under the mutex only.
    std::byte* begin = nullptr;
    if (process_heap().is_own(neighbour.description.id)) {
      neighbour.is_own = true;
      begin = reinterpret_cast<std::byte*>(neighbour.description.begin);
    } else {
      neighbour.mapping = mapping_of(neighbour.description);
      begin = neighbour.mapping->data();
    }
    neighbour.begin.store(begin, std::memory_order_release);  // Pairs with resolve.
    neighbour.tried.store(true, std::memory_order_release);   // Pairs with the load above.
  }
  return neighbour.begin.load(std::memory_order_relaxed);  // Written under the mutex only.
}

std::size_t MappingCache::mapped_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& neighbour : neighbours_) {
    if (neighbour->mapping && neighbour->mapping->data()) {
      bytes += neighbour->description.capacity_bytes;
    }
  }
  return bytes;
}

}  // namespace hycoll
