#include "numa/topology/cache_capacity.h"

#include <algorithm>

namespace hycoll {
namespace {

constexpr std::uint64_t kLargestShareBytes = std::uint64_t{16} << 20;

/// What all caches of one level hold together, and how many of the topology's cores they serve.
struct Level {
  std::uint64_t size_bytes = 0;
  std::uint64_t largest_bytes = 0;
  std::uint64_t core_count = 0;
};

Level read_level(const Topology& topology, int level) {
  Level read;
  for (const Cache& cache : topology.caches()) {
    if (cache.level != level) continue;
    read.size_bytes += cache.size_bytes;
    read.largest_bytes = std::max(read.largest_bytes, cache.size_bytes);
    read.core_count += cache.cores.size();
  }
  return read;
}

}  // namespace

std::uint64_t cache_capacity_bytes(const Topology& topology) {
  int level = 0;
  for (const Cache& cache : topology.caches()) level = std::max(level, cache.level);
  const Level last = read_level(topology, level);
  const auto machine_cores = static_cast<std::uint64_t>(topology.limits().machine_cores);
  if (last.size_bytes <= kLargestShareBytes * machine_cores) return last.largest_bytes;
  const Level below = read_level(topology, level - 1);
  if (below.core_count == 0 || below.size_bytes == 0) return last.largest_bytes;
  return below.size_bytes * machine_cores / below.core_count;
}

}  // namespace hycoll
