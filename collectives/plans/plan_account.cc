#include "collectives/plans/plan_account.h"

namespace hycoll {
namespace {

struct Totals {
  std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> found{0};
  std::atomic<std::uint64_t> evicted{0};
  std::atomic<std::uint64_t> nanoseconds{0};
  std::atomic<std::size_t> held_bytes{0};
  std::atomic<std::size_t> peak_bytes{0};
};
constinit Totals totals;

constexpr double kNanosecondsPerSecond = 1e9;

}  // namespace

PlanStatistics plan_statistics() noexcept {
  return {.made = totals.made.load(std::memory_order_relaxed),
          .found = totals.found.load(std::memory_order_relaxed),
          .evicted = totals.evicted.load(std::memory_order_relaxed),
          .peak_bytes = totals.peak_bytes.load(std::memory_order_relaxed),
          .seconds = static_cast<double>(totals.nanoseconds.load(std::memory_order_relaxed)) /
                     kNanosecondsPerSecond};
}

void add_to_plan_statistics(const PlanStatistics& more) noexcept {
  totals.made.fetch_add(more.made, std::memory_order_relaxed);
  totals.found.fetch_add(more.found, std::memory_order_relaxed);
  totals.evicted.fetch_add(more.evicted, std::memory_order_relaxed);
  totals.nanoseconds.fetch_add(static_cast<std::uint64_t>(more.seconds * kNanosecondsPerSecond),
                               std::memory_order_relaxed);
}

void PlanAccount::add(std::size_t bytes) noexcept {
  held_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  const std::size_t held = totals.held_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::size_t peak = totals.peak_bytes.load(std::memory_order_relaxed);
  while (static_cast<std::ptrdiff_t>(held) > static_cast<std::ptrdiff_t>(peak) &&
         !totals.peak_bytes.compare_exchange_weak(peak, held, std::memory_order_relaxed)) {
  }
}

}  // namespace hycoll
