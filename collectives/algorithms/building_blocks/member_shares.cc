#include "collectives/algorithms/building_blocks/member_shares.h"

#include <algorithm>
#include <utility>

#include "collectives/algorithms/building_blocks/node_phases.h"

namespace hycoll {
namespace {

/// A member waits for the lanes that its own worker leads on other strands than its main one.
void await_own_lanes(const ScheduleBuilder& builder, NodePhases& phases, int member) {
  const StrandId main = phases.strand(member);
  for (int lane = 0; lane < builder.shape().lane_count(); ++lane) {
    const StrandId leader = phases.leader(lane);
    if (leader == main || builder.worker_of(leader) != builder.worker_of(main)) continue;
    phases.await_lane(main, lane, 1);
  }
}

}  // namespace

NumberRange share_of_members(const Shape& shape, int node, int share_count, int share) {
  const int members = shape.node(node).members;
  const int first = members * share / share_count;
  return {.first = shape.first_member(node) + first,
          .count = members * (share + 1) / share_count - first};
}

std::vector<int> lanes_by_worker(const Shape& shape, int node) {
  std::vector<std::pair<int, int>> leaders;
  for (int lane = 0; lane < shape.lane_count(); ++lane) {
    leaders.emplace_back(shape.leader(node, lane), lane);
  }
  std::ranges::sort(leaders);
  std::vector<int> lanes;
  for (const auto& [leader, lane] : leaders) lanes.push_back(lane);
  return lanes;
}

void append_for_members(ScheduleBuilder& builder, const AppendForMember& append,
                        const AppendForMember& finish) {
  const Shape& shape = builder.shape();
  for (const int node : builder.nodes()) {
    NodePhases phases(builder, node);
    int share = 0;
    for (const int lane : lanes_by_worker(shape, node)) {
      phases.await_members(lane);
      for (const int member : share_of_members(shape, node, shape.lane_count(), share)) {
        append(phases.leader(lane), member);
      }
      phases.announce(lane);
      ++share;
    }
    for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
      phases.await_lanes(member, 1);
      if (!finish) continue;
      await_own_lanes(builder, phases, member);
      finish(phases.strand(member), member);
    }
  }
}

}  // namespace hycoll
