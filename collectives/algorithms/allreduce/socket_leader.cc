// Socket leaders with an aggregation tree: one leader per socket, reductions in the network.
//
// Idea: with one leader per node half of the members of a node with two sockets reach it through
// the connection of the sockets. Here every socket has a leader that reduces its own socket's
// members only, sends the sum to an aggregator on a lane of its own, gets the result back and
// publishes it to its socket. The aggregators combine the sums of all sockets of all nodes. Between
// the sockets of a node only signals travel: a leader publishes after the other sockets have
// entered.
//
// Source: M. Bayatpour et al. (DPML), SC'17, section 4.3, socket-level leader design. The tree:
// parts/aggregation.cc; the phases in a socket: those of a DPML leader (multi_leader.h), with the
// segments in flight together.
// Steps: 2 d messages, d the depth of the tree.
// Sent: n by every socket.
// Scratch: none at a node, 2 n at an aggregator.
// Serves: shapes whose last nodes are aggregators of one worker. Lane l is socket l: a node's
// members are divided over the lanes evenly and in order; sockets without members take no part. The
// leader of a lane is the owner of the first member of its socket on the node with most members; on
// nodes with fewer members it may belong to another socket. Operands stand in rank order.
//
// Example, 1 node of 4 members, 2 lanes and 1 aggregator: worker 0 reduces the inputs of members 0
// and 1, worker 2 those of 2 and 3; both send them to node 1, which adds them and returns the
// result to both. Member 1 copies it from member 0, member 3 from member 2.

#include <algorithm>
#include <utility>
#include <vector>

#include "collectives/algorithms/allreduce/allreduce.h"
#include "collectives/algorithms/allreduce/multi_leader.h"
#include "collectives/algorithms/building_blocks/aggregation.h"

namespace hycoll {
namespace {

/// The index on its node of the first member of a socket.
int first_of_socket(const Node& node, int socket, int socket_count) {
  return static_cast<int>(static_cast<long long>(node.members) * socket / socket_count);
}

/// The same shape with each lane driven by the owner of its socket's first member.
Shape with_socket_leaders(const Shape& shape) {
  const std::vector<EqualNodes> runs = shape.node_runs();
  const Node& largest = std::ranges::max_element(runs, {}, [](const EqualNodes& run) {
                          return run.node.members;
                        })->node;
  std::vector<int> leaders;
  for (int lane = 0; lane < shape.lane_count(); ++lane) {
    leaders.push_back(first_of_socket(largest, lane, shape.lane_count()));
  }
  return Shape(runs, shape.lane_count(), shape.visibility(), leaders);
}

/// A socket that has members: its lane, and the flag by which its leader says that all have
/// entered.
struct Socket {
  int lane;
  LeaderGroup group;
  FlagId entered;
};

using NodeSockets = std::vector<Socket>;

/// The lanes of a node's sockets that have members.
std::vector<int> lanes_of_sockets(const Shape& shape, int node) {
  std::vector<int> lanes;
  for (int lane = 0; lane < shape.lane_count(); ++lane) {
    const int first = first_of_socket(shape.node(node), lane, shape.lane_count());
    const int last = first_of_socket(shape.node(node), lane + 1, shape.lane_count());
    if (first < last) lanes.push_back(lane);
  }
  return lanes;
}

NodeSockets add_sockets(ScheduleBuilder& builder, StrandPool& pool, int node, int track_count) {
  const Shape& shape = builder.shape();
  NodeSockets sockets;
  for (const int lane : lanes_of_sockets(shape, node)) {
    const int first = first_of_socket(shape.node(node), lane, shape.lane_count());
    const int last = first_of_socket(shape.node(node), lane + 1, shape.lane_count());
    std::vector<LeaderGroup::Leader> leaders;
    for (int track = 0; track < track_count; ++track) {
      leaders.push_back({shape.leader(node, lane), pool.next(shape.leader(node, lane))});
    }
    const FlagId entered = builder.add_flag(leaders.front().strand);
    sockets.push_back(
        {.lane = lane,
         .group = LeaderGroup(builder, {builder, shape.first_member(node) + first, last - first}, 1,
                              std::move(leaders)),
         .entered = entered});
  }
  return sockets;
}

/// The strands of a node that has no members.
std::vector<StrandId> aggregator_strands(ScheduleBuilder& builder, StrandPool& pool, int node,
                                         int track_count) {
  std::vector<StrandId> strands;
  if (builder.shape().node(node).members > 0) track_count = 0;
  for (int track = 0; track < track_count; ++track) {
    strands.push_back(pool.next(builder.shape().leader(node, 0)));
  }
  return strands;
}

/// The sockets of a node or its aggregator, and the way of the parts through them.
class SocketLeaders {
 public:
  SocketLeaders(ScheduleBuilder& builder, const AggregationTree& tree, const VectorParts& parts,
                int node)
      : builder_(builder), tree_(tree), parts_(parts), node_(node) {
    StrandPool pool(builder_);
    const auto track_count = static_cast<int>(parts_.track_lanes.size());
    aggregator_ = aggregator_strands(builder_, pool, node, track_count);
    if (aggregator_.empty()) sockets_ = add_sockets(builder_, pool, node, track_count);
  }

  void append() {
    for (const VectorPart& part : parts_.parts) {
      append_aggregation(builder_, tree_, reduced(part));
      for (Socket& socket : sockets_) {
        if (part.chunks.first == 0) await_other_sockets(socket);
        socket.group.append_push(part);
        socket.group.append_announcement(part);
      }
    }
    for (Socket& socket : sockets_) socket.group.append_collection(parts_.parts);
  }

 private:
  AggregatedPart reduced(const VectorPart& part) {
    AggregatedPart result{
        .node = node_,
        .chunks = part.chunks,
        .contributions = {},
        .strand =
            aggregator_.empty() ? kElsewhere : aggregator_[static_cast<std::size_t>(part.track)],
        .lanes = [&](int host) { return lanes_of_sockets(builder_.shape(), host); }};
    for (auto& [lane, group, entered] : sockets_) {
      const StrandId strand = group.leader(part.track).strand;
      result.contributions.push_back({.lane = lane,
                                      .strand = strand,
                                      .source = group.append_reduction(part),
                                      .result = group.result(part.track)});
      if (part.chunks.first == 0) builder_.signal(strand, entered);
    }
    return result;
  }

  void await_other_sockets(const Socket& socket) {
    for (const Socket& other : sockets_) {
      if (other.lane == socket.lane) continue;
      builder_.wait(socket.group.leader(0).strand, other.entered);
    }
  }

  ScheduleBuilder& builder_;
  const AggregationTree& tree_;
  const VectorParts& parts_;
  int node_;
  NodeSockets sockets_;               // of a host
  std::vector<StrandId> aggregator_;  // by track; empty for a host
};

}  // namespace

Schedule generate_socket_leader_allreduce(std::string name, const Shape& asked,
                                          const GeneratorParameters& parameters) {
  const Shape shape = with_socket_leaders(asked);
  const int part_count = parameters.segments;
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape, part_count,
                          parameters.root, parameters.nodes);
  const VectorParts parts = cut_vector(1, part_count, tracks_per_lane(shape, part_count), 1);
  const AggregationTree tree(shape);
  for (const int node : builder.nodes()) SocketLeaders(builder, tree, parts, node).append();
  return std::move(builder).finish();
}

}  // namespace hycoll
