// Shared address space with message counters: members copy what has arrived in the leader's buffer.
//
// Idea: data arrive in the buffer of the lane's leader, the master, who does nothing but drive the
// network and raise a counter of what is there. The others of its node follow the counter and copy
// directly from the master's buffer into their own, while more arrives; on the root's node they
// copy the root's input as soon as the root has entered. A second counter, of those who are done,
// gives the buffers back.
//
// Source: A. Mamidala et al., Optimizing MPI Collectives Using Efficient Intra-node Communication
// Techniques over the Blue Gene/P Supercomputer, 2009, section 5.A: shared address broadcast with
// message counters. Memory passed over on every node: (M - 1) n read, (M - 1) n written, by the
// members' own cores.
// Scratch: none but that of the exchange.
// Serves: any shape with direct visibility.
// Chunks per lane: those of the exchange, with trees on a single node too; the counter counts what
// is announced at once. On the root's node members copy chunk by chunk: staged
// (core/staging/staging.h), the root copies a chunk in while they copy out the one before.
//
// Example, 1 node of 4 members, 1 lane, root 1: the members 0, 2 and 3 copy the root's input; the
// root waits for the three.

#include <utility>
#include <vector>

#include "collectives/algorithms/broadcast/broadcast.h"
#include "collectives/algorithms/building_blocks/node_phases.h"
#include "core/base/errors.h"

namespace hycoll {
namespace {

/// One node in all lanes.
class Followers {
 public:
  Followers(ScheduleBuilder& builder, NodePhases& phases) : builder_(builder), phases_(phases) {
    for (int member = phases.first_member(); member <= phases.last_member(); ++member) {
      // Its main strand may be the leader of a lane, which must not wait for another lane.
      const StrandId strand = builder.add_strand(builder.shape().worker_of_member(member));
      strands_.push_back(strand);
      follows_.push_back(false);
    }
  }

  NodePhases& phases() { return phases_; }

  /// What the lane's leader has announced, in this order.
  void add_announced(ChunkRange chunks) { announced_.push_back(chunks); }

  /// On a node that receives: every member but the owner of the place copies what has been
  /// announced in this lane. The owner waits until the lane's leader, if that is another worker,
  /// has passed it on.
  void append_copies(int lane, const BroadcastPlace& place) {
    for (std::size_t m = 0; m < strands_.size(); ++m) {
      const int member = phases_.first_member() + static_cast<int>(m);
      if (member == place.member) {
        if (!leads(lane, m)) phases_.announce(lane);
        await_leader(lane, m, static_cast<int>(announced_.size()) + 1);
        continue;
      }
      follows_[m] = true;
      int milestone = 0;
      for (const ChunkRange& chunks : announced_) {
        phases_.await_lane(strands_[m], lane, ++milestone);
        builder_.copy(strands_[m], span_of(builder_.output(member), chunks),
                      span_of(place.buffer, chunks));
      }
    }
    announced_.clear();
  }

  /// On the root's node: every other member copies the root's input. The root waits until the
  /// lane's leader, if that is another worker, has passed it on.
  void append_root_copies(int lane, ChunkRange chunks) {
    const bool sends = builder_.shape().node_count() > 1;
    for (std::size_t m = 0; m < strands_.size(); ++m) {
      const int member = phases_.first_member() + static_cast<int>(m);
      if (member == builder_.root()) {
        if (sends && !leads(lane, m)) phases_.announce(lane);
        if (sends) await_leader(lane, m, 1);
        continue;
      }
      if (!follows_[m]) phases_.await_member_as(strands_[m], builder_.root());
      follows_[m] = true;
      for (int chunk = chunks.first; chunk < chunks.first + chunks.count; ++chunk) {
        builder_.copy(strands_[m], span_of(builder_.output(member), {chunk, 1}),
                      span_of(builder_.input(builder_.root()), {chunk, 1}));
      }
    }
  }

  /// Members say that they are done, and leave when all are. Whoever followed nobody has been
  /// followed by everybody, who so know that it has entered.
  void append_end() { append_departure(builder_, strands_, follows_); }

 private:
  bool leads(int lane, std::size_t m) const {
    const Shape& shape = builder_.shape();
    return shape.worker_of_member(phases_.first_member() + static_cast<int>(m)) ==
           shape.leader(phases_.node(), lane);
  }

  void await_leader(int lane, std::size_t m, int milestone) {
    if (!leads(lane, m)) phases_.await_lane(strands_[m], lane, milestone);
  }

  ScheduleBuilder& builder_;
  NodePhases& phases_;
  std::vector<StrandId> strands_;  // per member
  std::vector<bool> follows_;      // per member: whether it copies in some lane
  std::vector<ChunkRange> announced_;
};

/// One node in one lane.
void append_lane(ScheduleBuilder& builder, Followers& followers, const Exchange& exchange,
                 BroadcastVector vector) {
  NodePhases& phases = followers.phases();
  const BroadcastPlace place = broadcast_place(builder, vector.node, vector.lane);
  vector.strand = phases.leader(vector.lane);
  vector.place = place.buffer;
  vector.on_arrival = [&](ChunkRange chunks) {
    if (phases.member_count() == 1) return;
    phases.announce(vector.lane, span_of(place.buffer, chunks));
    followers.add_announced(chunks);
  };
  if (builder.shape().node_count() > 1) phases.await_member(vector.lane, place.member);
  append_broadcast_exchange(builder, exchange, vector);
  if (vector.is_at_root()) {
    followers.append_root_copies(vector.lane, vector.chunks);
  } else {
    followers.append_copies(vector.lane, place);
  }
}

}  // namespace

Schedule generate_shared_address_broadcast(std::string name, const Shape& shape,
                                           const GeneratorParameters& parameters) {
  const Exchange& exchange = parameters.exchange;
  HYCOLL_ASSERT(shape.visibility() == Visibility::direct, "members read their leaders' buffers");
  const int per_lane = is_tree(exchange) ? parameters.segments
                                         : broadcast_chunks_per_lane(exchange, shape.node_count(),
                                                                     parameters.segments);
  ScheduleBuilder builder(Collective::broadcast, std::move(name), shape,
                          per_lane * shape.lane_count(), parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    NodePhases phases(builder, node);
    Followers followers(builder, phases);
    for (int lane = 0; lane < shape.lane_count(); ++lane) {
      append_lane(
          builder, followers, exchange,
          broadcast_vector(builder, node, lane, parameters.segments, OnArrival::before_passing_on));
    }
    followers.append_end();
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
