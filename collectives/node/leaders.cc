#include "collectives/node/leaders.h"

#include <cstddef>

namespace hycoll {

std::vector<Core> worker_cores(const Topology& topology, int worker_count, Placement placement,
                               MemberCount members) {
  // Only leaders follow one_per_package when there are more workers than packages.
  std::vector<Core> cores =
      place_workers(topology, worker_count,
                    placement == Placement::one_per_package ? Placement::compact : placement);
  if (members == MemberCount::every_worker) return cores;
  std::vector<Core> in_order;
  for (const int worker : leading_order(cores, placement)) {
    in_order.push_back(cores[static_cast<std::size_t>(worker)]);
  }
  return in_order;
}

std::vector<int> leaders_of(std::span<const Core> workers, int lane_count, Placement placement) {
  const std::vector<int> order = leading_order(workers, placement);
  std::vector<int> leaders;
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(lane_count); ++lane) {
    leaders.push_back(order[lane % order.size()]);
  }
  return leaders;
}

}  // namespace hycoll
