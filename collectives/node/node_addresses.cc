#include "collectives/node/node_addresses.h"

#include "heap/process_heap.h"

namespace hycoll {
namespace {

/// Distinguishes offsets in a shared heap from those in the segment, which are smaller.
constexpr std::uint64_t kInSharedHeap = std::uint64_t{1} << 63;
/// Distinguishes addresses in a process's own memory from offsets.
constexpr std::uint64_t kInOwnMemory = std::uint64_t{1} << 62;

}  // namespace

std::uint64_t NodeAddresses::offset_of(const void* address) const noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(segment_.data());
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  if (place >= begin && place < begin + segment_.size()) return place - begin + 1;
  if (!arenas_.all_reachable) return 0;
  const auto offset = process_heap().shared_offset(address);
  return offset ? kInSharedHeap | *offset : 0;
}

std::uint64_t NodeAddresses::announce(const void* address) const noexcept {
  const std::uint64_t offset = offset_of(address);
  if (offset != 0 || !copies()) return offset;
  return kInOwnMemory | reinterpret_cast<std::uintptr_t>(address);
}

std::byte* NodeAddresses::resolve(int worker, std::uint64_t announced) const noexcept {
  if (announced == 0 || (announced & (kInSharedHeap | kInOwnMemory)) == kInOwnMemory) {
    return nullptr;
  }
  if ((announced & kInSharedHeap) == 0) return segment_.data() + (announced - 1);
  return arenas_.mappings->resolve(static_cast<std::size_t>(worker), announced & ~kInSharedHeap, 1);
}

void NodeAddresses::read(int worker, std::uint64_t announced, std::size_t offset_bytes,
                         void* destination, std::size_t size_bytes) const {
  single_copy_.read(worker, (announced & ~kInOwnMemory) + offset_bytes, destination, size_bytes);
}

void NodeAddresses::write(int worker, std::uint64_t announced, std::size_t offset_bytes,
                          const void* source, std::size_t size_bytes) const {
  single_copy_.write(worker, (announced & ~kInOwnMemory) + offset_bytes, source, size_bytes);
}

}  // namespace hycoll
