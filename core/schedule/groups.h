#ifndef HYCOLL_CORE_SCHEDULE_GROUPS_H_
#define HYCOLL_CORE_SCHEDULE_GROUPS_H_

#include <span>
#include <string>
#include <vector>

#include "core/schedule/number_range.h"

namespace hycoll {

/// Neighbouring groups of equally many workers.
struct EqualGroups {
  int size = 1;
  int count = 1;
  friend bool operator==(const EqualGroups&, const EqualGroups&) = default;
};

/// One level of groups, which follow each other: as few runs as there can be.
using GroupLevel = std::vector<EqualGroups>;

/// Which workers of a node are near one another: groups of neighbouring workers on several levels,
/// from those within a shared cache to those within a package. A group consists of whole groups of
/// the level inside it. The node around them all is no level; a node without levels is flat. Plain,
/// immutable data, whose size goes with the runs of equal groups.
class Groups {
 public:
  /// Flat.
  Groups() = default;

  /// From inner to outer. Levels that tell nothing are left out: of groups of one worker each, like
  /// the level inside, or of one group. Throws Error (invalid_argument) unless sizes and counts are
  /// positive, all levels have equally many workers, and groups consist of whole inner ones.
  explicit Groups(std::vector<GroupLevel> levels);

  /// Of a node with so many workers, in equal groups of so many on each level, from inner to outer;
  /// the last group of a level has what is left. Throws Error (invalid_argument) unless all are at
  /// least 1, and each size a multiple of the one inside.
  static Groups of_sizes(int worker_count, std::span<const int> sizes);

  bool is_flat() const noexcept { return levels_.empty(); }
  int level_count() const noexcept { return static_cast<int>(levels_.size()); }
  std::span<const GroupLevel> levels() const noexcept { return levels_; }
  /// 0 if flat.
  int worker_count() const noexcept;

  /// The groups of a level that have workers in a range, and what each has there. Requires a level
  /// that exists; workers are numbered within the node.
  std::vector<NumberRange> within(int level, NumberRange workers) const;

  /// Of the node's first workers only.
  Groups of_first(int worker_count) const;

  friend bool operator==(const Groups&, const Groups&) = default;

 private:
  std::vector<GroupLevel> levels_;
};

/// Neighbouring nodes with the same groups.
struct EqualGroupings {
  Groups groups;
  int count = 1;
};

/// "4x32, 16x8": the levels from inner to outer, size x count; "flat" without any.
std::string to_text(const Groups& groups);

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_GROUPS_H_
