#include "collectives/processes/memory_charge.h"

#include <atomic>

namespace hycoll {
namespace {

// What all segments of this process take, and the most that they have taken. Order nothing.
std::atomic<std::size_t> charged_bytes{0};
std::atomic<std::size_t> peak_charged_bytes{0};

}  // namespace

std::optional<MemoryCharge> MemoryCharge::take(std::size_t size_bytes, std::size_t limit_bytes) {
  std::size_t taken = charged_bytes.load(std::memory_order_relaxed);
  do {
    if (size_bytes > limit_bytes || taken > limit_bytes - size_bytes) return std::nullopt;
  } while (
      !charged_bytes.compare_exchange_weak(taken, taken + size_bytes, std::memory_order_relaxed));
  std::size_t peak = peak_charged_bytes.load(std::memory_order_relaxed);
  while (peak < taken + size_bytes && !peak_charged_bytes.compare_exchange_weak(
                                          peak, taken + size_bytes, std::memory_order_relaxed)) {
  }
  return MemoryCharge(size_bytes);
}

MemoryCharge::~MemoryCharge() { charged_bytes.fetch_sub(size_bytes_, std::memory_order_relaxed); }

std::size_t MemoryCharge::all_bytes() noexcept {
  return charged_bytes.load(std::memory_order_relaxed);
}

std::size_t MemoryCharge::peak_bytes() noexcept {
  return peak_charged_bytes.load(std::memory_order_relaxed);
}

}  // namespace hycoll
