#include "collectives/job/ring_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/network/network_file.h"
#include "core/network/ring_order.h"
#include "core/network/slurm_address.h"

namespace hycoll {
namespace {

constexpr const char* kOption = "HYCOLL_TOPOLOGY (Options::topology)";
/// Instead of a file: what Slurm tells each task.
constexpr std::string_view kSlurm = "slurm";

/// -1: there is none.
int host_of_name(const NetworkTree& tree, const std::string& name) {
  const int host = tree.find_host(name);
  return host >= 0 ? host : tree.find_host(name.substr(0, name.find('.')));
}

void say_once(const std::string& path, const std::string& problem) {
  static std::atomic_flag is_said = ATOMIC_FLAG_INIT;
  // Orders nothing: the first one says it.
  if (is_said.test_and_set(std::memory_order_relaxed)) return;
  std::fprintf(stderr, "hycoll: %s '%s': %s, so that nodes keep the order of ranks.\n", kOption,
               path.c_str(), problem.c_str());
}

/// The hosts of the places.
std::vector<std::string> hosts_of(const ProcessGroup& group, const RankMap& places) {
  std::vector<std::string> hosts(static_cast<std::size_t>(places.distinct_count()));
  places.for_each_stretch([&](const RankStretch& stretch) {
    hosts[static_cast<std::size_t>(stretch.value)] = group.host(stretch.first_rank);
  });
  return hosts;
}

/// New numbers of the places that have these positions, which can be compared: by position, then by
/// their old numbers.
template <class Position>
std::vector<int> numbers_by_position(const std::vector<Position>& positions) {
  std::vector<int> order(positions.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) {
    return positions[static_cast<std::size_t>(a)] < positions[static_cast<std::size_t>(b)];
  });
  std::vector<int> numbers(order.size());
  for (std::size_t number = 0; number < order.size(); ++number) {
    numbers[static_cast<std::size_t>(order[number])] = static_cast<int>(number);
  }
  return numbers;
}

/// As a file says. Collective.
std::vector<int> numbers_by_file(const ProcessGroup& group, const RankMap& places) {
  const std::string& path = group.options().topology;
  std::vector<int> numbers(static_cast<std::size_t>(places.distinct_count()));
  std::iota(numbers.begin(), numbers.end(), 0);
  if (group.rank() == 0) {
    const NetworkTree tree = read_network_file(kOption, path);
    const HostPositions found = positions_in_ring(tree, hosts_of(group, places));
    if (found.unknown.empty()) {
      numbers = numbers_by_position(found.positions);
    } else {
      say_once(path, fmt::format("there is no host '{}'", found.unknown));
    }
  }
  group.broadcast_first(numbers);
  return numbers;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// What Slurm says is above this process's host, by level: numbers that are the same below one
/// switch.
std::vector<int> own_levels(const ProcessGroup& group) {
  std::vector<int> levels;
  for (const std::string& level :
       slurm_levels(variable("SLURM_TOPOLOGY_ADDR"), variable("SLURM_TOPOLOGY_ADDR_PATTERN"),
                    group.host(group.rank()))) {
    levels.push_back(NumberedOption::of_words("", level).value);
  }
  return levels;
}

/// As Slurm tells each process: hosts below one switch follow one another, on each level, and
/// switches come as their first processes do. Collective; all find the same.
std::vector<int> numbers_by_slurm(const ProcessGroup& group, const RankMap& places) {
  const std::vector<int> own = own_levels(group);
  const int level_count = group.maximum(static_cast<int>(own.size()));
  const bool some_do_not_know = group.maximum(own.empty() ? 1 : 0) != 0;
  // By place, then by level.
  std::vector<std::vector<int>> positions(static_cast<std::size_t>(places.distinct_count()));
  for (int level = 0; level < level_count && !some_do_not_know; ++level) {
    const auto index = std::min(static_cast<std::size_t>(level), own.size() - 1);
    const RankMap switches = group.gather(own[index]);
    std::map<int, int> order_of;
    places.for_each_stretch([&](const RankStretch& stretch) {
      const int number = switches.at(stretch.first_rank);
      const int order =
          order_of.try_emplace(number, static_cast<int>(order_of.size())).first->second;
      std::vector<int>& position = positions[static_cast<std::size_t>(stretch.value)];
      if (std::cmp_equal(position.size(), level)) position.push_back(order);
    });
  }
  if (some_do_not_know && group.rank() == 0) {
    say_once(group.options().topology,
             "not every process has a SLURM_TOPOLOGY_ADDR with the switches above its host");
  }
  return numbers_by_position(positions);
}

}  // namespace

HostPositions positions_in_ring(const NetworkTree& tree, std::span<const std::string> hosts) {
  std::vector<int> vertices;
  std::vector<int> distinct;
  std::vector<int> position_of(tree.vertices().size(), -1);
  for (const std::string& name : hosts) {
    vertices.push_back(host_of_name(tree, name));
    if (vertices.back() < 0) return {.positions = {}, .unknown = name};
    int& position = position_of[static_cast<std::size_t>(vertices.back())];
    if (position < 0) distinct.push_back(vertices.back());
    position = 0;
  }
  const std::vector<int> ring = ring_order(tree, distinct);
  for (std::size_t i = 0; i < ring.size(); ++i) {
    position_of[static_cast<std::size_t>(ring[i])] = static_cast<int>(i);
  }
  HostPositions found;
  for (const int vertex : vertices) {
    found.positions.push_back(position_of[static_cast<std::size_t>(vertex)]);
  }
  return found;
}

RankMap in_ring_order(const ProcessGroup& group, const RankMap& places) {
  const std::vector<int> numbers = group.options().topology == kSlurm
                                       ? numbers_by_slurm(group, places)
                                       : numbers_by_file(group, places);
  RankMap::Builder renumbered;
  places.for_each_stretch([&](const RankStretch& stretch) {
    renumbered.add(numbers[static_cast<std::size_t>(stretch.value)], stretch.count);
  });
  return renumbered.build();
}

}  // namespace hycoll
