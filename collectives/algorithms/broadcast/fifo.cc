// Broadcast FIFO: what arrives on a node goes through one FIFO to all of its members.
//
// Idea: the lane's leader receives segments in its own member's output, passes them on between the
// nodes, and copies them into its node's broadcast FIFO, from where every other member copies them
// into its own output. On the root's node the root writes its input there, all lanes in turn; a
// leader of that node sends what it has read. The streams of all lanes share the FIFO, mixed in the
// order in which they come. Nobody touches another one's buffers, so this also serves workers that
// cannot reach each other's, and nobody waits at the end for others to be done with his.
//
// Source: A. Mamidala et al., Optimizing MPI Collectives Using Efficient Intra-node Communication
// Techniques over the Blue Gene/P Supercomputer, 2009, sections 4.B and 5.A ("Torus + FIFO").
// Memory passed over on every node with M > 1 members: M n read, M n written: a copy into the FIFO
// and M - 1 out of it.
// Scratch: none; the FIFO's slots, whatever n. Steps and messages between nodes: those of the
// exchange, a tree.
// Serves: any shape with direct visibility whose lanes are led by workers that own a member.
//
// Example, 2 nodes of 2 members, 1 lane, root 0: member 0 sends its input to member 2 and writes it
// to its node's FIFO, where member 1 reads it; member 2 receives it in its output and writes it to
// its FIFO, for member 3.

#include <utility>
#include <vector>

#include "collectives/algorithms/broadcast/broadcast.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/base/at.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// One node in all lanes.
class FifoNode {
 public:
  FifoNode(ScheduleBuilder& builder, int node, int chunks_per_lane)
      : builder_(builder),
        phases_(builder, node),
        is_root_(node == builder.shape().node_of_member(builder.root())),
        chunks_per_lane_(chunks_per_lane),
        root_strand_(is_root_ ? builder.add_strand(builder.shape().worker_of_member(builder.root()))
                              : -1) {
    for (int lane = 0; lane < builder.shape().lane_count(); ++lane) add_lane(lane);
  }

  StrandId leader(int lane) const { return phases_.leader(lane); }
  BufferId place(int lane) const {
    const int member = leading_member(lane);
    return member == builder_.root() ? builder_.input(member) : builder_.output(member);
  }

  /// The root's node: the root writes all lanes in turn.
  void append_root() {
    if (!is_root_ || phases_.member_count() == 1) return;
    await_others(root_strand_, builder_.root());
    for (int chunk = 0; chunk < chunks_per_lane_; ++chunk) {
      for (int lane = 0; lane < builder_.shape().lane_count(); ++lane) {
        const ChunkRange chunks{lane * chunks_per_lane_ + chunk, 1};
        builder_.copy(root_strand_, span_of(streams_[at(lane)], chunks),
                      span_of(builder_.input(builder_.root()), chunks));
      }
    }
  }

  /// Another node: the leader writes what has arrived.
  void append_write(int lane, ChunkRange chunks) {
    if (phases_.member_count() == 1) return;
    if (!has_begun_[at(lane)]) await_others(leader(lane), leading_member(lane));
    has_begun_[at(lane)] = true;
    builder_.copy(leader(lane), span_of(streams_[at(lane)], chunks), span_of(place(lane), chunks));
  }

  /// The root's node: the leader waits until it has read what it sends.
  void append_wait(int lane, ChunkRange chunks) {
    if (!is_root_ || leading_member(lane) == builder_.root()) return;
    builder_.wait(leader(lane), read_[at(lane)], chunks.first - lane * chunks_per_lane_ + 1);
  }

 private:
  int leading_member(int lane) const {
    const Shape& shape = builder_.shape();
    const int index = shape.leader(phases_.node(), lane) - shape.first_worker(phases_.node());
    return phases_.first_member() + index;
  }
  int writing_member(int lane) const { return is_root_ ? builder_.root() : leading_member(lane); }

  /// A strand for every reader, which nothing else keeps waiting.
  void add_lane(int lane) {
    streams_.push_back(-1);
    read_.push_back(-1);
    has_begun_.push_back(false);
    if (phases_.member_count() == 1) return;
    const Shape& shape = builder_.shape();
    const int writer = writing_member(lane);
    const ChunkRange all{lane * chunks_per_lane_, chunks_per_lane_};
    streams_.back() = builder_.add_stream(shape.worker_of_member(writer), all);
    for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
      if (member == writer) continue;
      const StrandId strand = builder_.add_strand(shape.worker_of_member(member));
      const bool announces = is_root_ && member == leading_member(lane);
      if (announces) read_.back() = builder_.add_flag(strand);
      for (int chunk = all.first; chunk < all.first + all.count; ++chunk) {
        builder_.copy(strand, span_of(builder_.output(member), {chunk, 1}),
                      span_of(streams_.back(), {chunk, 1}));
        if (announces) builder_.signal(strand, read_.back());
      }
    }
  }

  /// Nobody writes before all can read.
  void await_others(StrandId strand, int writer) {
    for (int member = phases_.first_member(); member <= phases_.last_member(); ++member) {
      if (member != writer) phases_.await_member_as(strand, member);
    }
  }

  ScheduleBuilder& builder_;
  NodePhases phases_;
  bool is_root_;
  int chunks_per_lane_;
  StrandId root_strand_;           // -1 on other nodes
  std::vector<BufferId> streams_;  // by lane, as those below
  std::vector<FlagId> read_;
  std::vector<bool> has_begun_;
};

}  // namespace

bool serves_fifo_broadcast(const Shape& shape) {
  for (const int node : shape.first_nodes()) {
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      const int index = shape.leader(node, lane) - shape.first_worker(node);
      if (index >= shape.node(node).members) return false;
    }
  }
  return serves_any_shape(shape);
}

Schedule generate_fifo_broadcast(std::string name, const Shape& shape,
                                 const GeneratorParameters& parameters) {
  const Exchange& exchange = parameters.exchange;
  HYCOLL_ASSERT(is_tree(exchange), "segments follow each other");
  const int per_lane = broadcast_chunks_per_lane(exchange, shape.node_count(), parameters.segments);
  ScheduleBuilder builder(Collective::broadcast, std::move(name), shape,
                          per_lane * shape.lane_count(), parameters.root, parameters.nodes);
  for (const int n : builder.nodes()) {
    FifoNode node(builder, n, per_lane);
    node.append_root();
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      BroadcastVector vector =
          broadcast_vector(builder, n, lane, parameters.segments, OnArrival::after_passing_on);
      vector.strand = node.leader(lane);
      vector.place = node.place(lane);
      vector.on_arrival = [&](ChunkRange chunks) { node.append_write(lane, chunks); };
      vector.before_sending = [&](ChunkRange chunks) { node.append_wait(lane, chunks); };
      append_broadcast_exchange(builder, exchange, vector);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
