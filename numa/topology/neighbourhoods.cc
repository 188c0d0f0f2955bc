#include "numa/topology/neighbourhoods.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

namespace hycoll {
namespace {

/// What each worker shares with others: equal numbers for the same thing, -1 for nothing.
using Shared = std::vector<int>;

bool are_neighbours(const Shared& shared, std::size_t a) {
  return shared[a] >= 0 && shared[a] == shared[a + 1];
}

std::vector<int> sizes_of(const Shared& shared) {
  std::vector<int> sizes;
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

/// A cache may serve several domains, a domain several packages: the order is that of sizes.
constexpr std::array kLevels = {&CorePlace::core, &CorePlace::cache, &CorePlace::domain,
                                &CorePlace::package};

bool share(int a, int b) { return a >= 0 && a == b; }

/// The least that two workers of a group share.
Proximity farthest_within(std::span<const CorePlace> places, std::span<const int> sizes) {
  Proximity farthest = Proximity::core;
  std::size_t first = 0;
  for (const int size : sizes) {
    for (const CorePlace& place : places.subspan(first, static_cast<std::size_t>(size))) {
      farthest = std::max(farthest, proximity_of(places[first], place));
    }
    first += static_cast<std::size_t>(size);
  }
  return farthest;
}

}  // namespace

CorePlace place_of(const Core& core) noexcept {
  return {.core = core.index,
          .cache = core.last_level_cache,
          .domain = core.numa_domain,
          .package = core.package};
}

Proximity proximity_of(const CorePlace& a, const CorePlace& b) noexcept {
  if (share(a.core, b.core)) return Proximity::core;
  if (share(a.cache, b.cache)) return Proximity::cache;
  if (!share(a.package, b.package)) return Proximity::machine;
  return share(a.domain, b.domain) ? Proximity::domain : Proximity::package;
}

std::vector<Neighbourhood> neighbourhoods(std::span<const CorePlace> place_of_worker) {
  std::vector<Shared> levels;
  for (const auto& number : kLevels) {
    Shared shared;
    for (const CorePlace& place : place_of_worker) shared.push_back(place.*number);
    if (is_contiguous(shared)) levels.push_back(std::move(shared));
  }
  std::ranges::stable_sort(levels, std::ranges::greater(),
                           [](const Shared& shared) { return sizes_of(shared).size(); });
  std::vector<Neighbourhood> kept;
  const Shared* inner = nullptr;
  for (const Shared& level : levels) {
    if (inner != nullptr && !keeps_whole(level, *inner)) continue;
    inner = &level;
    std::vector<int> sizes = sizes_of(level);
    const bool is_of_singles = sizes.size() == place_of_worker.size();
    if (is_of_singles || (!kept.empty() && kept.back().sizes == sizes)) continue;
    const Proximity shared = farthest_within(place_of_worker, sizes);
    kept.push_back({shared, std::move(sizes)});
  }
  return kept;
}

}  // namespace hycoll
