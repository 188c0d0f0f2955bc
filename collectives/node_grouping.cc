#include "collectives/node_grouping.h"

#include <algorithm>
#include <cstddef>
#include <map>
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

NodeGrouping group_processes(std::span<const int> machines, int emulated_nodes) {
  const int parts = std::max(1, emulated_nodes);
  std::map<int, int> sizes;
  for (const int machine : machines) ++sizes[machine];

  struct Place {
    int machine;
    int part;
    bool operator==(const Place&) const = default;
  };
  NodeGrouping grouping;
  std::map<int, int> seen;
  Place last{};
  for (std::size_t rank = 0; rank < machines.size(); ++rank) {
    const int machine = machines[rank];
    const Place place{.machine = machine, .part = seen[machine]++ * parts / sizes[machine]};
    if (rank == 0 || place != last) grouping.first_rank.push_back(static_cast<int>(rank));
    last = place;
  }
  grouping.first_rank.push_back(static_cast<int>(machines.size()));
  return grouping;
}

}  // namespace hycoll
