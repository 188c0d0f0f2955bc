#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_LINES_TREE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_LINES_TREE_H_

#include <functional>
#include <vector>

#include "collectives/algorithms/building_blocks/lines_phases.h"
#include "collectives/algorithms/building_blocks/member_tree.h"
#include "core/schedule/builder.h"

namespace hycoll {

/// What passes along a tree of a node's members through lines, or as flags: up to a member from all
/// that lie below it, or down from it to these. Every step is one of a member's worker, on its main
/// strand; nobody reads what another than its parent or its children has written, so a member reads
/// as many cache lines as it has neighbours in the tree.
class LinesTree {
 public:
  /// Where a member with children may keep the sum of what lies below it.
  using PlaceOfSum = std::function<Span(int member)>;

  /// To be constructed before any other step of the node's workers is added. Entry::announced for
  /// await_subtree().
  LinesTree(ScheduleBuilder& builder, int node, MemberTree tree, Entry entry);

  const MemberTree& tree() const noexcept { return tree_; }
  LinesPhases& phases() noexcept { return phases_; }

  /// The inputs of a member and of all below it are reduced at the member, left to right on every
  /// level of the tree. Returns where the sum lies: without children this is the input.
  Span gather(int member, const PlaceOfSum& place);

  /// What a member has reaches the outputs of all below it.
  void pass_down(int member, Span source);

  /// A member waits until all below it have entered.
  void await_subtree(int member);

  /// A member lets all below it leave, when they have done what has been appended so far; but not
  /// `waiting`, if nobody is below it: that one waits for what comes from above later.
  void release(int member, int waiting);

 private:
  Span whole(BufferId buffer) const { return span_of(buffer, builder_.all_chunks()); }

  ScheduleBuilder& builder_;
  MemberTree tree_;
  LinesPhases phases_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_LINES_TREE_H_
