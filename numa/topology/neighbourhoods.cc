#include "numa/topology/neighbourhoods.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {
namespace {

/// What each worker shares with others: equal numbers for the same thing, -1 for nothing.
using Shared = std::vector<int>;

bool are_neighbours(const Shared& shared, std::size_t a) {
  return shared[a] >= 0 && shared[a] == shared[a + 1];
}

NeighbourhoodSizes sizes_of(const Shared& shared) {
  NeighbourhoodSizes sizes;
  for (std::size_t worker = 0; worker < shared.size(); ++worker) {
    if (worker > 0 && are_neighbours(shared, worker - 1)) {
      ++sizes.back();
    } else {
      sizes.push_back(1);
    }
  }
  return sizes;
}

/// Whether those that share something are neighbours.
bool is_contiguous(const Shared& shared) {
  std::set<int> seen;
  for (std::size_t worker = 0; worker < shared.size(); ++worker) {
    if (shared[worker] < 0 || (worker > 0 && are_neighbours(shared, worker - 1))) continue;
    if (!seen.insert(shared[worker]).second) return false;
  }
  return true;
}

bool keeps_whole(const Shared& outer, const Shared& inner) {
  for (std::size_t worker = 0; worker + 1 < outer.size(); ++worker) {
    if (are_neighbours(inner, worker) && !are_neighbours(outer, worker)) return false;
  }
  return true;
}

}  // namespace

std::vector<NeighbourhoodSizes> neighbourhoods(const Topology& topology,
                                               std::span<const int> core_of_worker) {
  std::vector<Shared> levels(3);
  for (const int index : core_of_worker) {
    if (index < 0 || index >= topology.core_count()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("topology: there is no core {} of {}", index, topology.core_count()));
    }
    const Core& core = topology.cores()[static_cast<std::size_t>(index)];
    levels[0].push_back(core.last_level_cache);
    levels[1].push_back(core.numa_domain);
    levels[2].push_back(core.package);
  }
  std::erase_if(levels, [](const Shared& shared) { return !is_contiguous(shared); });
  // A cache may serve several domains, a domain several packages.
  std::ranges::stable_sort(levels, std::ranges::greater(),
                           [](const Shared& shared) { return sizes_of(shared).size(); });
  std::vector<NeighbourhoodSizes> kept;
  const Shared* inner = nullptr;
  for (const Shared& level : levels) {
    if (inner != nullptr && !keeps_whole(level, *inner)) continue;
    kept.push_back(sizes_of(level));
    inner = &level;
  }
  return kept;
}

}  // namespace hycoll
