#include "heap/arena.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace hycoll {
namespace {

[[noreturn]] void invalid_block(const char* what, const void* address) {
  std::fprintf(stderr,
               "hycoll: %s(%p): no block of the shared heap begins there; it was freed before, or "
               "the address is not what the allocation returned\n",
               what, address);
  std::abort();
}

}  // namespace

Arena::Arena(const ArenaLimits& limits)
    : limits_(limits),
      memory_(limits.capacity_bytes + ArenaMemory::kHeaderBytes),
      extents_(memory_.capacity_bytes(), reinterpret_cast<std::uintptr_t>(memory_.begin())) {
  extents_.place(ArenaMemory::kHeaderBytes, 1);
}

std::size_t Arena::rounded(std::size_t size_bytes) {
  if (size_bytes == 0) size_bytes = 1;
  const std::size_t granule = size_bytes >= kPagedBytes ? kPageBytes : kLineBytes;
  if (size_bytes > std::numeric_limits<std::size_t>::max() / 2) return size_bytes;
  return (size_bytes + granule - 1) / granule * granule;
}

void* Arena::allocate(std::size_t size_bytes, std::size_t alignment_bytes, Content content) {
  size_bytes = rounded(size_bytes);
  alignment_bytes = std::max(alignment_bytes, size_bytes >= kPagedBytes ? kPageBytes : kLineBytes);
  std::optional<Extents::Range> block;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return nullptr;
    block = place(size_bytes, alignment_bytes);
    if (!block) return nullptr;
    if (!commit(*block)) {
      extents_.release(block->offset);
      return nullptr;
    }
    peak_block_bytes_ = std::max(peak_block_bytes_, extents_.block_bytes());
  }
  std::byte* address = memory_.begin() + block->offset;
  if (content == Content::zero && block->content == Extents::Content::any) {
    std::memset(address, 0, size_bytes);
  }
  return address;
}

std::optional<Extents::Range> Arena::place(std::size_t size_bytes, std::size_t alignment_bytes) {
  auto block = extents_.place(size_bytes, alignment_bytes);
  if (block || extents_.written_free_bytes() == 0) return block;
  // Once all free ranges read as zeros, neighbours are merged that were of different kinds.
  give_back_beyond(0);
  return extents_.place(size_bytes, alignment_bytes);
}

bool Arena::commit(const Extents::Range& range) {
  if (range.content == Extents::Content::any) return true;
  if (!may_take(range.size_bytes)) return false;
  return limits_.commit == ArenaLimits::Commit::on_touch ||
         memory_.populate(range.offset, range.size_bytes);
}

bool Arena::may_take(std::size_t size_bytes) {
  if (size_bytes > granted_bytes_) {
    const std::size_t available = limits_.available_bytes ? limits_.available_bytes() : SIZE_MAX;
    // Something is left for others, and for what this process takes elsewhere.
    const std::size_t usable = available - available / 16;
    if (size_bytes > usable) return false;
    granted_bytes_ = std::max(size_bytes, usable / 16);
  }
  granted_bytes_ -= size_bytes;
  return true;
}

void Arena::give_back_beyond(std::size_t kept_bytes) {
  while (extents_.written_free_bytes() > kept_bytes) {
    const auto largest = extents_.largest_written();
    memory_.give_back(largest->offset, largest->size_bytes);
    extents_.mark_zero(largest->offset);
  }
}

std::size_t Arena::block_at(const void* address) const {
  return static_cast<std::size_t>(static_cast<const std::byte*>(address) - memory_.begin());
}

void Arena::free(void* address) {
  const std::lock_guard lock(mutex_);
  const std::size_t offset = block_at(address);
  if (offset == 0 || extents_.size_of(offset) == 0) invalid_block("free", address);
  extents_.release(offset);
  give_back_beyond(std::max(limits_.kept_bytes, extents_.block_bytes()));
}

bool Arena::resize(void* address, std::size_t size_bytes) {
  size_bytes = rounded(size_bytes);
  const std::lock_guard lock(mutex_);
  const std::size_t offset = block_at(address);
  const std::size_t old_size = extents_.size_of(offset);
  if (offset == 0 || old_size == 0) invalid_block("realloc", address);
  if (size_bytes > old_size) {
    const auto room = extents_.room_behind(offset, size_bytes);
    if (is_closed_ || !room || !commit(*room)) return false;
  }
  if (!extents_.resize(offset, size_bytes)) return false;
  peak_block_bytes_ = std::max(peak_block_bytes_, extents_.block_bytes());
  return true;
}

std::size_t Arena::size_of(const void* address) const {
  const std::lock_guard lock(mutex_);
  return extents_.size_of(block_at(address));
}

ArenaUsage Arena::usage() const {
  const std::lock_guard lock(mutex_);
  return {extents_.block_bytes() - ArenaMemory::kHeaderBytes, extents_.block_count() - 1,
          peak_block_bytes_ == 0 ? 0 : peak_block_bytes_ - ArenaMemory::kHeaderBytes,
          extents_.written_free_bytes(), memory_.capacity_bytes() - ArenaMemory::kHeaderBytes};
}

void Arena::before_fork() {
  mutex_.lock();
  const std::size_t available = limits_.available_bytes ? limits_.available_bytes() : SIZE_MAX;
  const bool has_room = extents_.block_bytes() <= available - available / 16;
  memory_.before_fork(has_room ? extents_.end_of_blocks() : 0, [this](std::byte* copy) {
    extents_.for_each_block([&](std::size_t offset, std::size_t size_bytes) {
      std::memcpy(copy + offset, memory_.begin() + offset, size_bytes);
    });
  });
}

void Arena::after_fork_in_parent() {
  memory_.after_fork_in_parent();
  mutex_.unlock();
}

void Arena::after_fork_in_child() {
  memory_.after_fork_in_child();
  is_closed_ = true;
  mutex_.unlock();
}

}  // namespace hycoll
