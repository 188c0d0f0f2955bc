#include "collectives/algorithms/building_blocks/member_tree.h"

#include <algorithm>
#include <utility>

#include "core/base/errors.h"

namespace hycoll {

MemberTree::MemberTree(const Shape& shape, int node, int root, int turn)
    : first_(shape.first_member(node)),
      root_(root),
      children_(static_cast<std::size_t>(shape.node(node).members)) {
  HYCOLL_ASSERT(root >= first_ && root < first_ + member_count(), "the root is of this node");
  const Groups& groups = shape.groups(node);
  add_group(groups, groups.level_count(), {.first = 0, .count = member_count()}, turn);
  for (std::vector<int>& children : children_) std::ranges::sort(children);
}

/// Makes the tree of a group, `members` within the node. The groups inside are those of the level
/// before; the node has the level behind the last one. Inner groups change their leaders with every
/// turn, outer ones when all members of the inner ones have led: so all lead as often as others.
MemberTree::Led MemberTree::add_group(const Groups& groups, int level, NumberRange members,
                                      int turn) {
  std::vector<int> leaders;
  int inner_turns = 1;
  if (level == 0) {
    for (const int member : members) leaders.push_back(first_ + member);
  } else {
    for (const NumberRange& inner : groups.within(level - 1, members)) {
      const Led led = add_group(groups, level - 1, inner, turn);
      leaders.push_back(led.leader);
      inner_turns = std::max(inner_turns, led.turns);
    }
  }
  const bool has_root = members.holds(root_ - first_);
  const auto own_turn = static_cast<std::size_t>(turn / inner_turns) % leaders.size();
  const int leading = has_root ? root_ : leaders[own_turn];
  for (const int leader : leaders) {
    if (leader == leading) continue;
    children_[static_cast<std::size_t>(leading - first_)].push_back(leader);
  }
  const int turns = inner_turns * static_cast<int>(leaders.size());
  if (level == groups.level_count()) peers_ = std::move(leaders);
  return {leading, turns};
}

MemberTree MemberTree::without_root() const {
  MemberTree trees = *this;
  std::erase_if(trees.children_[static_cast<std::size_t>(root_ - first_)],
                [&](int child) { return std::ranges::binary_search(peers_, child); });
  return trees;
}

}  // namespace hycoll
