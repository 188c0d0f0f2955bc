#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_LINES_PHASES_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_LINES_PHASES_H_

#include <vector>

#include "collectives/algorithms/building_blocks/members.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// The members of one node in a collective of short vectors, who exchange data through lines: every
/// step here is one of a member's worker, on its main strand.
///
/// Apart from NodePhases (node_phases.h), for nothing is the same but that members announce
/// themselves: there is one lane, nobody reads another's buffer, and data carry their own signals.
class LinesPhases {
 public:
  /// Lets every member announce that it has entered, or not: nobody waits for it then. To be
  /// constructed before any other step of the node's workers is added.
  LinesPhases(ScheduleBuilder& builder, int node, Entry entry);

  int node() const noexcept { return node_; }
  int first_member() const noexcept { return members_.first(); }
  int last_member() const noexcept { return members_.last(); }
  int member_count() const noexcept { return members_.count(); }

  StrandId strand(int member) const { return members_.strand(member); }

  /// The member of the worker that leads lane 0. Requires that the leader owns one.
  int leading_member() const;

  /// Every member copies its input into lines, except for `reader`, who reads its own directly; -1
  /// for none.
  void publish_inputs(int reader = -1);

  /// A member copies the node's inputs, its block directly and those of others from lines, to where
  /// they belong in its output.
  void gather_inputs(int reader) { gather_inputs(reader, builder_.output(reader)); }
  /// The same in another buffer.
  void gather_inputs(int reader, BufferId place);

  /// A member reduces the node's inputs from lines, its own directly, left to right: those from the
  /// first member to `last`, for the chunks of the result. `before` is an operand to the left of
  /// them, if it is not empty.
  void reduce_inputs(int reader, Span result) { reduce_inputs(reader, result, last_member(), {}); }
  void reduce_inputs(int reader, Span result, int last, const std::vector<Span>& before);

  /// A member copies a span into lines that the others read.
  Span publish(int member, Span source);

  /// A member waits until all others of its node, or those from `first` on, have entered. Whoever
  /// has read somebody's lines need not.
  void await_members(int member) { await_members(member, first_member()); }
  void await_members(int member, int first);

  /// A member waits until another one has entered.
  void await_member(int member, int other) { members_.await(members_.strand(member), other); }

  /// A member waits until all others have entered, but for one whose lines it has read.
  void await_members_but(int member, int known);

 private:
  /// Where a reader finds a member's input.
  BufferId seen_by(int reader, int member) const;

  ScheduleBuilder& builder_;
  int node_;
  Members members_;
  std::vector<BufferId> lines_;  // per member; -1 where the input is not published
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_LINES_PHASES_H_
