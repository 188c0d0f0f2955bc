#ifndef HYCOLL_COLLECTIVES_NODE_NODE_ADDRESSES_H_
#define HYCOLL_COLLECTIVES_NODE_NODE_ADDRESSES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "collectives/node/arena_exchange.h"
#include "collectives/node/single_copy.h"
#include "threading/memory/address_space.h"

namespace hycoll {

/// Buffers that lie in a segment of the node or in its processes' shared heaps, as offsets; and
/// others, if the kernel copies between the processes.
class NodeAddresses final : public AddressSpace {
 public:
  /// `arenas`: those of the node's processes, by worker; used only if all can reach all.
  NodeAddresses(std::span<std::byte> segment, ExchangedArenas arenas, SingleCopy single_copy)
      : segment_(segment), arenas_(std::move(arenas)), single_copy_(std::move(single_copy)) {}
  std::uint64_t announce(const void* address) const noexcept override;
  std::byte* resolve(int worker, std::uint64_t announced) const noexcept override;
  void read(int worker, std::uint64_t announced, std::size_t offset_bytes, void* destination,
            std::size_t size_bytes) const override;
  void write(int worker, std::uint64_t announced, std::size_t offset_bytes, const void* source,
             std::size_t size_bytes) const override;

  /// Whether the processes can access one another's shared heaps. The same on all of them.
  bool reaches_heaps() const noexcept { return arenas_.all_reachable; }
  /// Whether the others find the buffer at `address` of this process in their own mappings.
  bool is_mapped(const void* address) const noexcept { return offset_of(address) != 0; }
  /// Whether the kernel copies all others. The same on all processes.
  bool copies() const noexcept { return single_copy_.is_permitted(); }

 private:
  /// In the segment or the heap; 0: elsewhere.
  std::uint64_t offset_of(const void* address) const noexcept;

  std::span<std::byte> segment_;
  ExchangedArenas arenas_;
  SingleCopy single_copy_;
};

/// Buffers of processes with several threads, as addresses that mean something in one process.
class ThreadAddresses final : public AddressSpace {
 public:
  /// The threads of this process are the node's workers from `first` on, `count` of them.
  ThreadAddresses(int first, int count) : first_(first), count_(count) {}
  std::uint64_t announce(const void* address) const noexcept override {
    return reinterpret_cast<std::uintptr_t>(address);
  }
  std::byte* resolve(int worker, std::uint64_t announced) const noexcept override {
    const bool is_here = worker >= first_ && worker < first_ + count_;
    return is_here ? reinterpret_cast<std::byte*>(announced) : nullptr;
  }

 private:
  int first_;
  int count_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_NODE_ADDRESSES_H_
