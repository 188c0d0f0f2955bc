#include "collectives/processes/node_grouping.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

namespace hycoll {

int NodeGrouping::node_of(int rank) const {
  const auto after = std::upper_bound(first_rank.begin(), first_rank.end(), rank);
  return static_cast<int>(after - first_rank.begin()) - 1;
}

int NodeGrouping::size_of(int node) const {
  const auto n = static_cast<std::size_t>(node);
  return first_rank[n + 1] - first_rank[n];
}

ThreadNumbering::ThreadNumbering(std::span<const int> thread_counts) : first_of_process{0} {
  for (const int count : thread_counts) first_of_process.push_back(first_of_process.back() + count);
}

std::vector<int> ThreadNumbering::processes() const {
  std::vector<int> processes;
  for (int process = 0; std::cmp_less(process + 1, first_of_process.size()); ++process) {
    processes.insert(processes.end(), static_cast<std::size_t>(count_of(process)), process);
  }
  return processes;
}

std::vector<int> node_places(std::span<const int> machines, std::span<const int> domains,
                             int emulated_nodes, Dealing dealing) {
  struct Location {
    int machine;
    int domain;
    int part;
    auto operator<=>(const Location&) const = default;
  };
  std::vector<Location> locations;
  std::map<Location, int> sizes;
  for (std::size_t rank = 0; rank < machines.size(); ++rank) {
    const int domain = domains.empty() ? 0 : domains[rank];
    locations.push_back({.machine = machines[rank], .domain = domain, .part = 0});
    ++sizes[locations.back()];
  }
  const int parts = std::max(1, emulated_nodes);
  std::map<Location, int> seen;
  std::map<Location, int> first_ranks;
  std::vector<int> places;
  for (Location location : locations) {
    const int index = seen[location]++;
    location.part = dealing == Dealing::cyclic ? index % parts : index * parts / sizes[location];
    const int rank = static_cast<int>(places.size());
    places.push_back(first_ranks.try_emplace(location, rank).first->second);
  }
  return places;
}

NodeGrouping group_processes(std::span<const int> places) {
  NodeGrouping grouping;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const bool begins = rank == 0 || places[rank] != places[rank - 1];
    if (begins) grouping.first_rank.push_back(static_cast<int>(rank));
  }
  grouping.first_rank.push_back(static_cast<int>(places.size()));
  return grouping;
}

std::vector<int> ranks_by_place(std::span<const int> places) {
  std::vector<int> ranks(places.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::ranges::stable_sort(ranks, {},
                           [&](int rank) { return places[static_cast<std::size_t>(rank)]; });
  if (std::ranges::is_sorted(ranks)) ranks.clear();
  return ranks;
}

}  // namespace hycoll
