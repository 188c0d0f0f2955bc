#include "collectives/job/ring_places.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <numeric>

#include "core/network/network_file.h"
#include "core/network/ring_order.h"

namespace hycoll {
namespace {

/// -1: there is none.
int host_of_name(const NetworkTree& tree, const std::string& name) {
  const int host = tree.find_host(name);
  return host >= 0 ? host : tree.find_host(name.substr(0, name.find('.')));
}

void say_once(const std::string& path, const std::string& unknown) {
  static std::atomic_flag is_said = ATOMIC_FLAG_INIT;
  // Orders nothing: the first one says it.
  if (is_said.test_and_set(std::memory_order_relaxed)) return;
  std::fprintf(stderr,
               "hycoll: HYCOLL_TOPOLOGY (Options::topology) '%s' has no host '%s', so that nodes "
               "keep the order of ranks.\n",
               path.c_str(), unknown.c_str());
}

/// The hosts of the places.
std::vector<std::string> hosts_of(const ProcessGroup& group, const RankMap& places) {
  std::vector<std::string> hosts(static_cast<std::size_t>(places.distinct_count()));
  places.for_each_stretch([&](const RankStretch& stretch) {
    hosts[static_cast<std::size_t>(stretch.value)] = group.host(stretch.first_rank);
  });
  return hosts;
}

/// New numbers of the places that are at these positions: by position, then by their old numbers.
std::vector<int> numbers_by_position(std::span<const int> positions) {
  std::vector<int> order(positions.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](int place) { return positions[static_cast<std::size_t>(place)]; });
  std::vector<int> numbers(order.size());
  for (std::size_t number = 0; number < order.size(); ++number) {
    numbers[static_cast<std::size_t>(order[number])] = static_cast<int>(number);
  }
  return numbers;
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
  const std::string& path = group.options().topology;
  std::vector<int> numbers(static_cast<std::size_t>(places.distinct_count()));
  std::iota(numbers.begin(), numbers.end(), 0);
  if (group.rank() == 0) {
    const NetworkTree tree = read_network_file("HYCOLL_TOPOLOGY (Options::topology)", path);
    const HostPositions found = positions_in_ring(tree, hosts_of(group, places));
    if (found.unknown.empty()) {
      numbers = numbers_by_position(found.positions);
    } else {
      say_once(path, found.unknown);
    }
  }
  group.broadcast_first(numbers);
  RankMap::Builder renumbered;
  places.for_each_stretch([&](const RankStretch& stretch) {
    renumbered.add(numbers[static_cast<std::size_t>(stretch.value)], stretch.count);
  });
  return renumbered.build();
}

}  // namespace hycoll
