// Leaders: what the members of one node have for those of another one travels in one message.
//
// Idea: for every other node a leader gathers the blocks of all its members for all members there
// into one tile, sorted by who is to have them, sends it, and scatters each tile that it receives
// to the outputs: the blocks for one member follow each other there. Between two nodes there is one
// message each way instead of M^2. With several leaders, the nodes at distances 1, L + 1, 2 L + 1,
// ... forward are served by the first of them, those at 2, L + 2, ... by the second, and so on:
// each over its own endpoint. Where there are more leaders than other nodes several share a tile,
// each of the blocks for some members. Leaders also share what stays on the node, by who is to have
// it.
//
// Where all nodes have one member, every member sends every block by itself, from where it is to
// where it belongs: the direct algorithms.
//
// Gathering, exchange and scattering in phases: L-a2a with one leader, MPML with several, and NMPML
// where these are spread over the node's NUMA domains (Options::placement). Overlapped, all
// receives first, each tile sent as soon as it is gathered, and scattered when it has arrived:
// ONMPML. By Bruck's algorithm (bruck.cc) leaders pass on what is for others, in few long messages:
// then all lanes have a share of every tile.
//
// Source: the paper of ONMPML (multi-leader all-to-all; sections 5.1 to 5.4). There leaders gather
// by the sender's order and transpose when a tile has arrived; here the gathering sorts.
// Steps between nodes: ceil((N - 1) / L) rounds of every leader.
// Messages: N (N - 1) in all, of M^2 blocks, for M members on each of N nodes; more where leaders
// share tiles.
// Scratch: a node of several members has each tile that it sends, and each that it receives, once:
// 2 M^2 (N - 1) blocks, twice what it sends; in segments, each leader four of them.
// Serves: any shape with direct visibility.
//
// Example, 3 nodes of 2 members, 2 lanes: worker 0 gathers the blocks of members 0 and 1 for 2 and
// 3 and sends them to worker 2, receives those of 4 and 5 from worker 4, and copies what is for 0
// and for 1. Worker 1 sends to worker 5 and receives from worker 3.

#include <utility>

#include "collectives/algorithms/alltoall/alltoall.h"
#include "collectives/algorithms/alltoall/lane_tiles.h"
#include "collectives/algorithms/building_blocks/member_shares.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/base/errors.h"

namespace hycoll {

Schedule generate_multi_leader_alltoall(std::string name, const Shape& shape,
                                        const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct, "leaders touch their members' buffers");
  const int count = shape.member_count();
  ScheduleBuilder builder(Collective::alltoall, std::move(name), shape, count * count,
                          parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    NodePhases phases(builder, node);
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      phases.await_members(lane);
      LaneTiles tiles(builder, phases, lane, BlockOrder::by_receiver);
      tiles.exchange(parameters, [&] {
        for (const int receiver : share_of_members(shape, node, shape.lane_count(), lane)) {
          tiles.copy_inside(receiver);
        }
      });
      phases.announce(lane);
    }
    for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
      phases.await_lanes(member, 1);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
