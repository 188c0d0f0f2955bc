// Cache-oblivious: what stays on a node is dealt out, and taken, along a Z-curve.
//
// Idea: the blocks of a node's M members for one another are a square of senders and receivers. A
// leader that copies all that a few receivers are to have reads a line of every sender's for every
// short block. Instead the curve that fills the square quarter by quarter is cut into L equal
// pieces, and each leader takes one: the blocks of some sqrt(M^2 / L) senders for as many
// receivers, so that neighbouring blocks that it reads lie in one line, and so do those that it
// writes; and it takes them in the curve's order, in which this holds for its caches, too, whatever
// their sizes. A leader waits for the members that its piece touches, and a member for the leaders
// of these pieces. Pieces go to leaders in the order of their workers: what neighbouring members
// have for one another neighbours copy, and what crosses the machine crosses it once or twice.
//
// Between nodes as in multi_leader.cc, overlapped; tiles are gathered along the curve, too.
//
// Source: S. Li, Y. Zhang, T. Hoefler, Cache-Oblivious MPI All-to-All Communications Based on
// Morton Order, 2017: SH-NUMA-CO in table 1 of the paper on ONMPML, there with one leader.
// Steps between nodes, messages, scratch: as ONMPML.
// Serves: any shape with direct visibility.
//
// Example, 4 members, 4 lanes on one node: worker 1 copies the blocks of members 0 and 1 for 2
// and 3: (0, 2), (0, 3), (1, 2), (1, 3).

#include <set>
#include <utility>
#include <vector>

#include "collectives/algorithms/alltoall/alltoall.h"
#include "collectives/algorithms/alltoall/lane_tiles.h"
#include "collectives/algorithms/alltoall/z_curve.h"
#include "collectives/algorithms/building_blocks/member_shares.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// One of as many pieces as there are lanes of what the members of a node have for one another,
/// along the curve.
std::vector<Pair> piece_of(const NodePhases& phases, int lane_count, int number) {
  const NumberRange members{phases.first_member(), phases.member_count()};
  std::vector<Pair> piece;
  visit_z_curve(members, members, share_of_curve(members, members, lane_count, number),
                [&](int from, int to) { piece.push_back({.from = from, .to = to}); });
  return piece;
}

/// Whose buffers the blocks lie in.
std::set<int> members_of(const std::vector<Pair>& pairs) {
  std::set<int> members;
  for (const Pair& pair : pairs) members.insert({pair.from, pair.to});
  return members;
}

/// A leader's tiles are of all of them.
std::set<int> all_members(const NodePhases& phases) {
  const NumberRange members{phases.first_member(), phases.member_count()};
  return {members.begin(), members.end()};
}

}  // namespace

Schedule generate_cache_oblivious_alltoall(std::string name, const Shape& shape,
                                           const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct, "leaders touch their members' buffers");
  const int count = shape.member_count();
  ScheduleBuilder builder(Collective::alltoall, std::move(name), shape, count * count,
                          parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    NodePhases phases(builder, node);
    const std::vector<int> lanes = lanes_by_worker(shape, node);
    std::vector<std::set<int>> touched;  // members, by lane in the order of workers
    for (const int lane : lanes) {
      const std::vector<Pair> piece =
          piece_of(phases, shape.lane_count(), static_cast<int>(touched.size()));
      touched.push_back(shape.node_count() == 1 ? members_of(piece) : all_members(phases));
      for (const int member : touched.back()) phases.await_member(lane, member);
      LaneTiles tiles(builder, phases, lane, BlockOrder::z_curve);
      tiles.exchange(parameters, [&] {
        for (const Pair& pair : piece) tiles.copy_inside(pair);
      });
      phases.announce(lane);
    }
    for (std::size_t number = 0; number < lanes.size(); ++number) {
      for (const int member : touched[number]) phases.await_lane_of(member, lanes[number], 1);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
