// Grouped leaders: allreduce of long vectors among the groups of a node.
//
// Idea: as in dpml.cc the vector is cut into L partitions, each with a leader that reduces it and
// from which the result comes. But nobody reads all members' inputs: a partition goes up a tree
// that follows the node's groups, so each cache, domain and package hands it on once, as a sum, and
// gets the result once. Every partition has a tree of its own: its leader, and those of the groups,
// move on by one member from partition to partition. Sums lie in the outputs of those that make
// them; the members below copy the result from there.
//
// Source: n-level hierarchies of XHC (G. Katevenis et al., CLUSTER 2022) with the partitions of
// DPML.
// Cost:   n bytes in all cross the boundary of a group for sums and results together, in and out,
//         if it is one of two; 2 (k - 1) / k n if it is one of k, and what passes through it.
// Serves: a single node with direct visibility.
//
// Example, 4 members in groups of 2, 2 lanes: partition 0 has the leader 0, who reduces the inputs
// of 0 and 1 and what 2 has reduced of 2 and 3; 1 and 2 copy the result from 0, and 3 from 2.
// Partition 1 has the leader 2, and 1 is that of the other group.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "collectives/algorithms/allreduce/allreduce.h"
#include "collectives/algorithms/building_blocks/member_tree.h"
#include "collectives/algorithms/building_blocks/members.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

/// A flag for each member, whose signals are counted as they are appended.
class Milestones {
 public:
  Milestones(ScheduleBuilder& builder, const Members& members)
      : builder_(builder),
        members_(members),
        flags_(members.add_flags()),
        reached_(flags_.size(), 0) {}

  /// Returns which of the member's signals this is.
  int signal(int member) {
    builder_.signal(members_.strand(member), members_.flag_of(flags_, member));
    return ++reached_[static_cast<std::size_t>(member - members_.first())];
  }

  void await(int waiting, int member, int milestone) {
    builder_.wait(members_.strand(waiting), members_.flag_of(flags_, member), milestone);
  }

 private:
  ScheduleBuilder& builder_;
  const Members& members_;
  std::vector<FlagId> flags_;
  std::vector<int> reached_;  // by member
};

/// The members of the node, and how far each has come.
struct Progress {
  const Members& members;
  Milestones summed;    ///< A sum for the parent is there.
  Milestones finished;  ///< The result is there for the children.
  Milestones copied;    ///< It has been read from the parent.
};

class PartitionTree {
 public:
  PartitionTree(ScheduleBuilder& builder, Progress& progress, int lane)
      : builder_(builder),
        progress_(progress),
        chunks_{lane, 1},
        tree_(builder.shape(), 0,
              static_cast<int>(std::int64_t{lane} * progress.members.count() /
                               builder.shape().lane_count()),
              lane),
        places_(static_cast<std::size_t>(tree_.member_count())) {
    place(tree_.root(), 0);
  }

  /// Of the longest way between the root and a leaf.
  int height() const { return place_of(tree_.root()).height; }

  /// Of those so far above the leaves.
  void append_sums(int height) {
    for (int member = progress_.members.first(); member <= progress_.members.last(); ++member) {
      if (place_of(member).height == height) append_sum(member);
    }
  }

  /// Of those so far below the root.
  void append_copies(int depth) {
    for (int member = progress_.members.first(); member <= progress_.members.last(); ++member) {
      const Place& place = place_of(member);
      if (place.depth != depth || tree_.children(member).empty()) continue;
      const int finished = progress_.finished.signal(member);
      for (const int child : tree_.children(member)) {
        progress_.finished.await(child, member, finished);
        builder_.copy(strand(child), output(child), output(member));
        place_of(child).copied = progress_.copied.signal(child);
      }
    }
  }

  /// Whoever has children waits until they have read what it has; nobody else does.
  void append_departure() {
    for (int member = progress_.members.first(); member <= progress_.members.last(); ++member) {
      for (const int child : tree_.children(member)) {
        progress_.copied.await(member, child, place_of(child).copied);
      }
    }
  }

 private:
  /// A member's in the tree, and its milestones there.
  struct Place {
    int height = 0;
    int depth = 0;
    int summed = 0;
    int copied = 0;
  };

  Place& place_of(int member) {
    return places_[static_cast<std::size_t>(member - tree_.first_member())];
  }
  const Place& place_of(int member) const {
    return places_[static_cast<std::size_t>(member - tree_.first_member())];
  }
  StrandId strand(int member) const { return progress_.members.strand(member); }
  Span input(int member) const { return span_of(builder_.input(member), chunks_); }
  Span output(int member) const { return span_of(builder_.output(member), chunks_); }

  int place(int member, int depth) {
    int height = 0;
    for (const int child : tree_.children(member)) {
      height = std::max(height, place(child, depth + 1) + 1);
    }
    place_of(member).height = height;
    place_of(member).depth = depth;
    return height;
  }

  /// What a child hands up, when it is there.
  Span sum_of(int child, int parent) {
    if (tree_.children(child).empty()) {
      progress_.members.await(strand(parent), child);
      return input(child);
    }
    progress_.summed.await(parent, child, place_of(child).summed);
    return output(child);
  }

  void append_sum(int member) {
    const std::vector<int>& children = tree_.children(member);
    std::vector<Span> operands;
    for (const int child : children) operands.push_back(sum_of(child, member));
    const auto before = std::ranges::lower_bound(children, member) - children.begin();
    operands.insert(operands.begin() + before, input(member));
    const Span sum = output(member);
    builder_.reduce(strand(member), std::span(&sum, 1), operands);
    if (member != tree_.root()) place_of(member).summed = progress_.summed.signal(member);
  }

  ScheduleBuilder& builder_;
  Progress& progress_;
  ChunkRange chunks_;
  MemberTree tree_;
  std::vector<Place> places_;  // by member
};

}  // namespace

Schedule generate_grouped_leaders_allreduce(std::string name, const Shape& shape,
                                            const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.node_count() == 1, "groups are within a node");
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape, shape.lane_count(),
                          parameters.root, parameters.nodes);
  const Members members = Members::of_node(builder, 0);
  if (members.count() == 1) {
    builder.copy(members.strand(0), span_of(builder.output(0), builder.all_chunks()),
                 span_of(builder.input(0), builder.all_chunks()));
    return std::move(builder).finish();
  }
  Progress progress{.members = members,
                    .summed = {builder, members},
                    .finished = {builder, members},
                    .copied = {builder, members}};
  std::vector<PartitionTree> trees;
  int height = 0;
  for (int lane = 0; lane < shape.lane_count(); ++lane) {
    trees.emplace_back(builder, progress, lane);
    height = std::max(height, trees.back().height());
  }
  // Level by level, so that nobody waits in one partition for what others do later for another.
  for (int level = 1; level <= height; ++level) {
    for (PartitionTree& tree : trees) tree.append_sums(level);
  }
  for (int depth = 0; depth < height; ++depth) {
    for (PartitionTree& tree : trees) tree.append_copies(depth);
  }
  for (PartitionTree& tree : trees) tree.append_departure();
  return std::move(builder).finish();
}

}  // namespace hycoll
