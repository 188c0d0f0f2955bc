#include "tools/measure/copy_bandwidth.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "numa/placement/binding.h"
#include "tools/measure/statistics.h"

namespace hycoll::measure {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr int kCopies = 5;

double copy_repeatedly(std::size_t size_bytes) {
  using Clock = std::chrono::steady_clock;
  const std::unique_ptr<std::byte[]> source(new std::byte[size_bytes]);
  const std::unique_ptr<std::byte[]> destination(new std::byte[size_bytes]);
  std::memset(source.get(), 1, size_bytes);
  std::memset(destination.get(), 2, size_bytes);
  std::vector<double> gb_per_s;
  for (int i = 0; i < kCopies; ++i) {
    const Clock::time_point start = Clock::now();
    std::memcpy(destination.get(), source.get(), size_bytes);
    // The copies are never read: without this the compiler may drop them.
    asm volatile("" : : "r"(destination.get()) : "memory");
    const std::chrono::duration<double, std::nano> time = Clock::now() - start;
    gb_per_s.push_back(static_cast<double>(size_bytes) / time.count());
  }
  return median(gb_per_s);
}

}  // namespace

std::size_t copy_size_bytes(const Topology& topology, const Core& core) {
  std::size_t largest_cache_bytes = 0;
  for (int level = 1; level <= 4; ++level) {
    largest_cache_bytes =
        std::max<std::size_t>(largest_cache_bytes, topology.cache_size_bytes(core.index, level));
  }
  return std::clamp(2 * largest_cache_bytes, 16 * kMiB, 64 * kMiB);
}

double copy_bandwidth_gb_per_s(const Topology& topology, const Core& core) {
  double gb_per_s = 0;
  std::exception_ptr failure;
  std::thread([&] {
    try {
      bind_this_thread(topology, core);
      gb_per_s = copy_repeatedly(copy_size_bytes(topology, core));
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
  return gb_per_s;
}

}  // namespace hycoll::measure
