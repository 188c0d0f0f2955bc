#include "tests/support/allocated_memory.h"

#include <fmt/format.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

/// What is allocated by operator new in this process, and the most that has been.
std::atomic<std::size_t> allocated_bytes{0};
std::atomic<std::size_t> peak_bytes{0};

void* allocate(std::size_t size_bytes, std::size_t alignment) {
  void* const memory =
      std::aligned_alloc(alignment, (size_bytes + alignment) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = allocated_bytes += malloc_usable_size(memory);
  for (std::size_t peak = peak_bytes; peak < now && !peak_bytes.compare_exchange_weak(peak, now);) {
  }
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) allocated_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size_bytes) {
  return allocate(size_bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t size_bytes, std::align_val_t alignment) {
  return allocate(size_bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size_bytes, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return allocate(size_bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  release(memory);
}

namespace hycoll::tests {

PeakSince::PeakSince() : before_(allocated_bytes) { peak_bytes = before_; }

std::string PeakSince::complaint(std::size_t most_bytes) const {
  const std::size_t peak = peak_bytes;
  const std::size_t taken = peak > before_ ? peak - before_ : 0;
  return taken <= most_bytes ? "" : fmt::format("{} bytes taken, not {}", taken, most_bytes);
}

}  // namespace hycoll::tests
