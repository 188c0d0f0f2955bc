#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_NODE_PHASES_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_NODE_PHASES_H_

#include <vector>

#include "collectives/algorithms/building_blocks/chunks.h"
#include "collectives/algorithms/building_blocks/members.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// The workers of one node in a collective with several leaders: the strand on which each lane is
/// led, and the flags by which members and leaders wait for each other. Every member announces that
/// it has entered; every leader announces milestones of its lane.
///
/// For collectives that decide themselves where sums, parts and results lie. What members of an
/// allreduce do, who all get the same result, is in LeaderGroup (multi_leader.h); what they do
/// without leaders' flags, through lines, in LinesPhases (lines_phases.h).
class NodePhases {
 public:
  /// Adds strands and flags, and the members' announcements. To be constructed before any other
  /// step of the node's workers is added.
  NodePhases(ScheduleBuilder& builder, int node);

  int node() const noexcept { return node_; }
  int first_member() const noexcept { return members_.first(); }
  int last_member() const noexcept { return members_.last(); }
  int member_count() const noexcept { return members_.count(); }

  /// The main strand of a member's worker.
  StrandId strand(int member) const { return members_.strand(member); }

  /// The strand of the lane's leader: a worker's first lane runs on its main strand, every further
  /// one on its own.
  StrandId leader(int lane) const { return leaders_[static_cast<std::size_t>(lane)]; }

  /// The lane's leader waits until all members of the node have entered.
  void await_members(int lane);

  /// The lane's leader waits until this member has entered, or all but this one.
  void await_member(int lane, int member);
  void await_members_but(int lane, int known);

  /// A strand of the node, of another worker than the member's, waits until the member has entered.
  void await_member_as(StrandId strand, int member);

  /// A member waits on its worker's main strand until another one has entered.
  void await_member_of(int member, int other);

  /// The lane's leader announces its next milestone, when all that it has begun is complete.
  void announce(int lane);
  /// The same, as soon as all that it has begun and that touches a span is complete.
  void announce(int lane, const Span& announced);

  /// A member waits on its worker's main strand until every lane has reached a milestone: 1 is the
  /// first that its leader announced. Lanes that the worker leads itself need no waiting: it ends
  /// when all of its strands have ended.
  void await_lanes(int member, int milestone);
  /// The same of one lane.
  void await_lane_of(int member, int lane, int milestone);

  /// A strand of the node waits until the leader of a lane has announced a milestone.
  void await_lane(StrandId strand, int lane, int milestone);

 private:
  ScheduleBuilder& builder_;
  int node_;
  Members members_;
  std::vector<StrandId> leaders_;   // per lane
  std::vector<FlagId> milestones_;  // per lane
};

/// One lane's sum of a node's inputs: what an exchange between nodes sends and combines. A range of
/// chunks is reduced, left to right over the members, when it is first asked for, so that the
/// exchange begins before the whole vector is reduced.
class NodeSum {
 public:
  /// Sums that the lane's leader computes into `places`. With one member on the node its input is
  /// the sum, and the places are not used.
  NodeSum(ScheduleBuilder& builder, const NodePhases& phases, int lane, std::vector<Span> places);

  /// A sum that is there already.
  NodeSum(ScheduleBuilder& builder, Span place);

  /// Where a range of chunks lies, which one place holds whole; appends to the leader's strand the
  /// reduction of those chunks that nobody has asked for before.
  Span at(ChunkRange chunks);

  /// Whether the sum is an input, which may only be read; its places are scratch or output
  /// otherwise.
  bool is_input() const { return builder_->role_of(places_.front().buffer) == BufferRole::input; }
  const std::vector<Span>& places() const noexcept { return places_; }

 private:
  void reduce(Span place, ChunkRange chunks);

  ScheduleBuilder* builder_;
  StrandId leader_ = 0;
  std::vector<BufferId> inputs_;
  std::vector<Span> places_;
  std::vector<ChunkRange> missing_;  // what is not reduced yet; in order, apart
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_NODE_PHASES_H_
