#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_ALLREDUCE_MULTI_LEADER_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_ALLREDUCE_MULTI_LEADER_H_

#include <span>
#include <vector>

#include "collectives/algorithms/allreduce/exchange.h"
#include "collectives/algorithms/building_blocks/members.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// A part of the vector that is reduced on the nodes, exchanged and published by itself.
struct VectorPart {
  int lane;
  ChunkRange chunks;
  int track;  ///< Which of the leaders' strands handles it.
  int turn;   ///< 1 for the first part of a track, 2 for the next: the message counter's value.
};

/// How a vector is cut into parts. The parts of one track are handled in turn, by one strand of the
/// lane's leader on every node; those of different tracks at the same time.
struct VectorParts {
  std::vector<int> track_lanes;   ///< The lane of each track.
  std::vector<VectorPart> parts;  ///< The first part of every lane, then the second ones, ...
};

/// Every lane's partition cut into `parts_per_lane` parts on `tracks_per_lane` tracks, dealt to
/// them in turn. The chunks of a lane follow each other, and so do those of a part.
VectorParts cut_vector(int lane_count, int parts_per_lane, int tracks_per_lane,
                       int chunks_per_part);

/// The tracks that a lane gets for `parts` parts: as many as possible while no worker has more than
/// kMaximumTracksPerWorker, for a worker's message counters are limited (one for each track).
int tracks_per_lane(const Shape& shape, int parts);
inline constexpr int kMaximumTracksPerWorker = 64;

/// Hands out strands of workers of the nodes that a schedule is made for: the main strand first,
/// then further ones.
class StrandPool {
 public:
  explicit StrandPool(ScheduleBuilder& builder);
  StrandId next(int worker);

 private:
  ScheduleBuilder& builder_;
  std::vector<bool> main_taken_;
};

/// Members of one node that share leaders: what happens among them before and after the exchange of
/// an allreduce. Constructed for all groups before anything else is added to their members' main
/// strands.
///
/// NodePhases (node_phases.h) also lets members and leaders wait for each other, but is another
/// thing: here every member gets the same result, so that this class knows where each part is
/// combined and who copies it, for all members of a node or those of a socket. There results differ
/// from member to member, their algorithms place them, and leaders only announce how far they are.
class LeaderGroup {
 public:
  /// Who handles a track: a worker, and the strand that it does so on.
  struct Leader {
    int worker;
    StrandId strand;
  };

  /// Adds flags. The leaders are by track; `lane_count` lanes serve the members.
  LeaderGroup(ScheduleBuilder& builder, Members members, int lane_count,
              std::vector<Leader> leaders);

  const Members& members() const noexcept { return members_; }
  const Leader& leader(int track) const { return leaders_[static_cast<std::size_t>(track)]; }
  FlagId published(int track) const { return published_[static_cast<std::size_t>(track)]; }

  /// The output in which the parts of a track are combined: that of a member which the leader owns,
  /// where there is one.
  BufferId result(int track) const;

  /// Phases 1 and 2: the leader waits for the members and reduces a part of their inputs, left to
  /// right. Returns where the sum lies: in result(), or in the input of a single member.
  BufferId append_reduction(const VectorPart& part);

  /// Phase 4 on the leader's side. With as many lanes as members the leader copies its results to
  /// the others (push); with fewer the members copy for themselves (pull), which shares the work.
  void append_push(const VectorPart& part);
  void append_announcement(const VectorPart& part);

  /// Phase 4 on the members' side: each waits for all parts and, pulling, copies them. Pulling, a
  /// member whose output held results stays until the others have copied them. Requires that all
  /// announcements have been appended.
  void append_collection(std::span<const VectorPart> parts);

 private:
  bool pulls() const noexcept { return lane_count_ < members_.count(); }
  bool is_finished_by_reduction() const;
  int combining_member(int track) const;
  void collect(int member, std::span<const VectorPart> parts);
  void stay(int member);

  ScheduleBuilder& builder_;
  Members members_;
  int lane_count_;
  std::vector<Leader> leaders_;    // by track
  std::vector<FlagId> copied_;     // by member, pulling
  std::vector<FlagId> published_;  // by track
};

/// Appends all four phases of DPML (see dpml.cc) for every part: the members of each node
/// are one group, and the lanes' leaders exchange. Nodes without members take part in the exchange.
void append_multi_leader(ScheduleBuilder& builder, const Exchange& exchange,
                         const VectorParts& parts);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_ALLREDUCE_MULTI_LEADER_H_
