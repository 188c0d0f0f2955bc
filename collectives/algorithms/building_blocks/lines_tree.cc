#include "collectives/algorithms/building_blocks/lines_tree.h"

#include <algorithm>
#include <utility>

namespace hycoll {

LinesTree::LinesTree(ScheduleBuilder& builder, int node, MemberTree tree, Entry entry)
    : builder_(builder), tree_(std::move(tree)), phases_(builder, node, entry) {}

Span LinesTree::gather(int member, const PlaceOfSum& place) {
  const Span input = whole(builder_.input(member));
  const std::vector<int>& children = tree_.children(member);
  if (children.empty()) return input;
  std::vector<Span> operands;
  for (const int child : children) {
    operands.push_back(phases_.publish(child, gather(child, place)));
  }
  const auto before = std::ranges::lower_bound(children, member) - children.begin();
  operands.insert(operands.begin() + before, input);
  const Span sum = place(member);
  builder_.reduce(phases_.strand(member), std::span(&sum, 1), operands);
  return sum;
}

void LinesTree::pass_down(int member, Span source) {
  if (tree_.children(member).empty()) return;
  const Span lines = phases_.publish(member, source);
  for (const int child : tree_.children(member)) {
    const Span output = whole(builder_.output(child));
    builder_.copy(phases_.strand(child), output, lines);
    pass_down(child, output);
  }
}

void LinesTree::await_subtree(int member) {
  const StrandId strand = phases_.strand(member);
  for (const int child : tree_.children(member)) {
    if (tree_.children(child).empty()) {
      phases_.await_member(member, child);
      continue;
    }
    await_subtree(child);
    const FlagId all_entered = builder_.add_flag(phases_.strand(child));
    builder_.signal(phases_.strand(child), all_entered);
    builder_.wait(strand, all_entered);
  }
}

void LinesTree::release(int member, int waiting) {
  std::vector<int> released = tree_.children(member);
  std::erase_if(released,
                [&](int child) { return child == waiting && tree_.children(child).empty(); });
  if (released.empty()) return;
  const FlagId may_leave = builder_.add_flag(phases_.strand(member));
  builder_.signal(phases_.strand(member), may_leave, {});
  for (const int child : released) {
    builder_.wait(phases_.strand(child), may_leave);
    release(child, waiting);
  }
}

}  // namespace hycoll
