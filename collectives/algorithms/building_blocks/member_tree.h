#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_MEMBER_TREE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_MEMBER_TREE_H_

#include <cstddef>
#include <vector>

#include "core/schedule/builder.h"

namespace hycoll {

/// The members of a node as a tree that follows its groups (core/schedule/groups.h): each group is
/// led by one of its members, who is the parent of those that lead the groups inside it. A member
/// may lead groups on several levels, and has the children of all of them. Plain data, made in time
/// and memory of the node's members.
///
/// Example, 8 members in groups of 2, in groups of 4: 0 is the parent of 1, 2 and 4; 2 of 3, 4 of 5
/// and 6, 6 of 7.
class MemberTree {
 public:
  /// `root`, a member of the node, leads every group that it is in. Others are led by their first
  /// member, or, with further turns, by their further ones.
  MemberTree(const Shape& shape, int node, int root, int turn = 0);

  int first_member() const noexcept { return first_; }
  int member_count() const noexcept { return static_cast<int>(children_.size()); }
  int root() const noexcept { return root_; }

  /// Ascending. What lies below a child are neighbouring members, the parent not among them.
  const std::vector<int>& children(int member) const {
    return children_[static_cast<std::size_t>(member - first_)];
  }

  /// Those that lead the outermost groups, the root among them; ascending. On a flat node these are
  /// all members.
  const std::vector<int>& peers() const noexcept { return peers_; }

  /// The same tree without what joins the peers: one for each of them.
  MemberTree without_root() const;

 private:
  struct Led {
    int leader;
    int turns;  ///< Until everybody has led the group, and those inside.
  };
  Led add_group(const Groups& groups, int level, NumberRange members, int turn);

  int first_;
  int root_;
  std::vector<std::vector<int>> children_;  // by member
  std::vector<int> peers_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_MEMBER_TREE_H_
