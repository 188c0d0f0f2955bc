#include "tools/command/costs/allocations.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "core/base/errors.h"

namespace {

/// Other threads of the program only find it false.
std::atomic<bool> counts{false};

// Used by the one thread of a process that counts. What was there before may be released meanwhile.
std::ptrdiff_t present = 0;
std::ptrdiff_t peak = 0;
std::ptrdiff_t limit = 0;

bool is_counting() noexcept { return counts.load(std::memory_order_relaxed); }

void release(void* memory) noexcept {
  if (is_counting() && memory != nullptr) {
    present -= static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  }
  std::free(memory);
}

/// Takes what malloc has returned; null if that is null, or exceeds the limit.
void* counted(void* memory) noexcept {
  if (!is_counting() || memory == nullptr) return memory;
  present += static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  if (present > limit) {
    release(memory);
    return nullptr;
  }
  peak = std::max(peak, present);
  return memory;
}

void* allocate(std::size_t size_bytes) noexcept {
  return counted(std::malloc(std::max<std::size_t>(size_bytes, 1)));
}

void* allocate(std::size_t size_bytes, std::align_val_t alignment) noexcept {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (size_bytes + unit) / unit * unit));
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size_bytes) { return or_throw(allocate(size_bytes)); }
void* operator new(std::size_t size_bytes, std::align_val_t alignment) {
  return or_throw(allocate(size_bytes, alignment));
}
void* operator new(std::size_t size_bytes, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(size_bytes);
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  release(memory);
}

namespace hycoll::command {

AllocationCount::AllocationCount(std::size_t limit_bytes) {
  HYCOLL_ASSERT(!is_counting(), "allocations are counted once at a time");
  present = peak = 0;
  limit = static_cast<std::ptrdiff_t>(std::min<std::size_t>(limit_bytes, PTRDIFF_MAX));
  counts.store(true, std::memory_order_relaxed);  // found by this thread
}

AllocationCount::~AllocationCount() { counts.store(false, std::memory_order_relaxed); }

std::size_t AllocationCount::present_bytes() const noexcept {
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(present, 0));
}

std::size_t AllocationCount::peak_bytes() const noexcept { return static_cast<std::size_t>(peak); }

}  // namespace hycoll::command
