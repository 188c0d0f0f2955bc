#include "collectives/job/node_inside.h"

#include <array>
#include <utility>

#include "collectives/job/worker_groups.h"
#include "threading/latency/core_latencies.h"

namespace hycoll {
namespace {

/// Only the first process looks, so that all have the same.
TransferTimes agreed_times(const ProcessGroup& group) {
  std::array<double, kProximityCount> ns = kPublishedTimes.latency;
  if (group.rank() == 0) {
    ns = core_latencies(group.topology(), group.cores_are_shared(),
                        parse_latency_request(group.options().latencies))
             .times.latency;
  }
  group.broadcast_first(ns);
  return TransferTimes::of(ns);
}

}  // namespace

NodeInside agree_on_inside(const ProcessGroup& group, std::span<const EqualNodes> nodes,
                           const std::vector<int>& leaders, std::span<const CorePlace> places,
                           const std::function<int(int node)>& first_rank_of) {
  const GroupRequest request = parse_groups(group.options().groups);
  const bool may_group = most_workers(nodes) >= InsideCosts::kLeastWorkers;
  const bool tells_groups = may_group && request.is_of_machine;
  std::vector<int> own = leaders;
  if (tells_groups) {
    const std::vector<int> groups =
        packed(places.empty() ? EqualNearness{} : groups_of_places(places));
    own.insert(own.end(), groups.begin(), groups.end());
  }
  int node_count = 0;
  for (const EqualNodes& run : nodes) node_count += run.count;
  NodeInside inside;
  const auto lengths = tells_groups ? ProcessGroup::Lengths::differ : ProcessGroup::Lengths::equal;
  for (EqualNumbers& run : group.gather_lists(own, lengths, node_count, first_rank_of)) {
    if (tells_groups) {
      inside.near.push_back(unpacked(std::span<const int>(run.numbers).subspan(leaders.size())));
      inside.near.back().count = run.count;
      run.numbers.resize(leaders.size());
    }
    inside.leaders.push_back({.workers = std::move(run.numbers), .count = run.count});
  }
  if (may_group && !request.is_of_machine) inside.near = groups_of_sizes(nodes, request.sizes);
  if (are_flat(inside.near)) inside.near.clear();
  if (!inside.near.empty()) inside.times = agreed_times(group);
  return inside;
}

}  // namespace hycoll
