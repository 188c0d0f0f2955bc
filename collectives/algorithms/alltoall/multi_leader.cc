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
// A single block of a member's that is its node's only one, or leads itself, is sent from where it
// is, and received where it belongs. Where all nodes have one member, every member sends every
// block by itself: the direct algorithms.
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
// 2 M^2 (N - 1) blocks, twice what it sends.
// Serves: any shape with direct visibility.
//
// Example, 3 nodes of 2 members, 2 lanes: worker 0 gathers the blocks of members 0 and 1 for 2 and
// 3 and sends them to worker 2, receives those of 4 and 5 from worker 4, and copies what is for 0
// and for 1. Worker 1 sends to worker 5 and receives from worker 3.

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "collectives/algorithms/alltoall/alltoall.h"
#include "collectives/algorithms/parts/node_phases.h"
#include "core/base/errors.h"
#include "core/schedule/pairs.h"

namespace hycoll {
namespace {

/// Neighbouring members of a node.
struct MemberRange {
  int first;
  int count;
};

/// Of the members of a node one of so many shares, as equal as can be.
MemberRange share_of_members(const Shape& shape, int node, int share_count, int share) {
  const int members = shape.node(node).members;
  const int first = members * share / share_count;
  return {.first = shape.first_member(node) + first,
          .count = members * (share + 1) / share_count - first};
}

/// What a node has for some neighbouring members of one.
ChunkRange tile_for(const Shape& shape, int from_node, const MemberRange& to) {
  if (to.count == 0) return {};
  const ChunkRange first = tile_for(shape, from_node, to.first);
  return {.first = first.first, .count = first.count * to.count};
}

/// A lane's share of what one node has for another one, or for itself, if all lanes share it.
ChunkRange share_of_tile(const Shape& shape, int from_node, int to_node, int lane) {
  return tile_for(shape, from_node, share_of_members(shape, to_node, shape.lane_count(), lane));
}

/// The rounds of one lane. Alike on all nodes is which share of which distance is whose.
std::vector<TileRound> rounds_of(const Shape& shape, int node, int lane) {
  const int node_count = shape.node_count();
  const int lane_count = shape.lane_count();
  const int share_count = (lane_count + node_count - 2) / (node_count - 1);
  std::vector<TileRound> rounds;
  for (int number = lane; number < (node_count - 1) * share_count; number += lane_count) {
    const int distance = 1 + number / share_count;
    const int share = number % share_count;
    const int to = (node + distance) % node_count;
    const int from = (node + node_count - distance) % node_count;
    rounds.push_back(
        {.to_node = to,
         .sent = tile_for(shape, node, share_of_members(shape, to, share_count, share)),
         .from_node = from,
         .received = tile_for(shape, from, share_of_members(shape, node, share_count, share))});
  }
  return rounds;
}

/// A leader's steps for one lane.
class LaneTiles {
 public:
  LaneTiles(ScheduleBuilder& builder, const NodePhases& phases, int lane)
      : builder_(builder),
        phases_(phases),
        lane_(lane),
        worker_(builder.shape().leader(phases.node(), lane)) {}

  void append(const Exchange& exchange) {
    const Shape& shape = builder_.shape();
    if (shape.node_count() > 1) {
      exchange.alltoall(
          builder_,
          {.lane = lane_,
           .node = phases_.node(),
           .worker = worker_,
           .strand = strand(),
           .rounds = rounds_of(shape, phases_.node(), lane_),
           .gather = [&](const TileRound& round) { return gathered(round.sent); },
           .place = [&](const TileRound& round) { return place_for(round.received); },
           .scatter = [&](const TileRound& round) { scatter(round.received); },
           .tile = [&](int from_node,
                       int to_node) { return share_of_tile(shape, from_node, to_node, lane_); },
           .collect = [&](Span place, ChunkRange tile) { collect(place, tile); },
           .deliver = [&](ChunkRange tile, Span place) { deliver(tile, place); }});
    }
    append_inside();
  }

 private:
  StrandId strand() const { return phases_.leader(lane_); }

  void copy_from_input(Span place, int chunk) {
    const BufferId input = builder_.input(pair_of(builder_.shape(), chunk).from);
    builder_.copy(strand(), place, span_of(input, {chunk, 1}));
  }

  void collect(Span place, ChunkRange tile) {
    for (int i = 0; i < tile.count; ++i) {
      copy_from_input(span_of(place.buffer, {place.first_chunk + i, 1}), tile.first + i);
    }
  }

  void deliver(ChunkRange tile, Span place) {
    const Shape& shape = builder_.shape();
    const int from_node = shape.node_of_member(pair_in(tile).from);
    for (int done = 0; done < tile.count;) {
      const int to = pair_of(shape, tile.first + done).to;
      const ChunkRange blocks = hycoll::tile_for(shape, from_node, to);
      builder_.copy(strand(), span_of(builder_.output(to), blocks),
                    span_of(place.buffer, {place.first_chunk + done, blocks.count}));
      done += blocks.count;
    }
  }

  /// The first one of a tile.
  Pair pair_in(ChunkRange tile) const { return pair_of(builder_.shape(), tile.first); }

  bool is_alone(ChunkRange tile, int member) const {
    const bool is_own =
        phases_.member_count() == 1 || builder_.shape().worker_of_member(member) == worker_;
    return tile.count == 1 && is_own;
  }

  Span gathered(ChunkRange tile) {
    const int from = pair_in(tile).from;
    if (is_alone(tile, from)) return span_of(builder_.input(from), tile);
    const Span place = span_of(builder_.add_scratch(worker_, tile), tile);
    collect(place, tile);
    return place;
  }

  Span place_for(ChunkRange tile) {
    const int to = pair_in(tile).to;
    if (is_alone(tile, to)) return span_of(builder_.output(to), tile);
    const BufferId scratch = builder_.add_scratch(worker_, tile);
    places_.emplace(tile.first, scratch);
    return span_of(scratch, tile);
  }

  void scatter(ChunkRange tile) {
    if (is_alone(tile, pair_in(tile).to)) return;
    deliver(tile, span_of(places_.at(tile.first), tile));
  }

  /// What stays on the node.
  void append_inside() {
    const Shape& shape = builder_.shape();
    const MemberRange own = share_of_members(shape, phases_.node(), shape.lane_count(), lane_);
    for (int to = own.first; to < own.first + own.count; ++to) {
      const ChunkRange blocks = hycoll::tile_for(shape, phases_.node(), to);
      for (int chunk = blocks.first; chunk < blocks.first + blocks.count; ++chunk) {
        copy_from_input(span_of(builder_.output(to), {chunk, 1}), chunk);
      }
    }
  }

  ScheduleBuilder& builder_;
  const NodePhases& phases_;
  int lane_;
  int worker_;
  std::map<int, BufferId> places_;  // by the first chunk of what arrives there
};

}  // namespace

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
      LaneTiles(builder, phases, lane).append(parameters.exchange);
      phases.announce(lane);
    }
    for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
      phases.await_lanes(member, 1);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
