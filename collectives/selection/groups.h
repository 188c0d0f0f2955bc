#ifndef HYCOLL_COLLECTIVES_SELECTION_GROUPS_H_
#define HYCOLL_COLLECTIVES_SELECTION_GROUPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/transfer_times.h"
#include "core/schedule/shape.h"

namespace hycoll {

struct SelectionQuery;
struct SelectedPlan;

/// Neighbouring nodes whose workers are near one another alike.
struct EqualNearness {
  Groups groups = {};
  /// By level of groups, what the workers of one share; behind the last level, what all workers of
  /// the node do.
  std::vector<Proximity> shared = {Proximity::machine};
  int count = 1;

  friend bool operator==(const EqualNearness&, const EqualNearness&) = default;
};

/// Levels of groups, by what the workers of a group share: a bit for each Proximity.
using GroupLevels = std::uint8_t;
inline constexpr GroupLevels kAllGroupLevels = 0xff;

/// Only those levels.
Groups with_levels(const EqualNearness& near, GroupLevels levels);

/// What calls inside the nodes take along their groups, and without: prices made of the latencies
/// from core to core and of the transfers that the algorithms' schedules have, as
/// core/drawing/line_transfers.h counts them (tests compare). What does not depend on a call's
/// length is computed once. Immutable; the same on all processes if what it is made of is.
class InsideCosts {
 public:
  /// Whether groups can matter to nodes of so many workers: two always exchange what they have.
  static constexpr int kLeastWorkers = 3;

  /// `near` is of the same nodes, whose every worker is a member.
  InsideCosts(std::span<const EqualNodes> nodes, std::span<const EqualNearness> near,
              const TransferTimes& times);

  /// The plan of a rule that knows no groups, or a cheaper one that follows them.
  SelectedPlan along_groups(const SelectionQuery& query, const SelectedPlan& by_rule) const;

  /// What passes inside the nodes in a call of the algorithm, in nanoseconds: of the node that has
  /// most to do. Requires one that along_groups() may choose, or choose instead of.
  double nanoseconds(const SelectionQuery& query, const SelectedPlan& plan) const;

 private:
  /// What the leaders of groups read of one another on one level, or in the whole node: one unit
  /// reads so many others.
  struct Stage {
    double children = 0;
    double latency = 0;    ///< Of the farthest of them.
    double gap = 0;        ///< The same.
    double all_gaps = 0;   ///< Of all of them.
    double most_gaps = 0;  ///< The same for a unit that has fewest near itself.
    double share = 0;      ///< Of the node's workers, that are children here.
    friend bool operator==(const Stage&, const Stage&) = default;
  };
  using Stages = std::vector<Stage>;

  /// Nodes that are grouped alike.
  struct Kind {
    int members = 1;
    int packages = 1;
    std::vector<std::vector<int>> ends = {};  ///< By level, and of the node: where each group ends.
    std::vector<Proximity> shared = {};
    std::vector<Stages> stages = {};  ///< By choice of levels.
    friend bool operator==(const Kind&, const Kind&) = default;
  };

  GroupLevels add_kind(int members, const EqualNearness& near);
  Stages stages_of(const Kind& kind, GroupLevels levels, const TransferTimes& times) const;
  std::size_t choice_of(GroupLevels levels) const;
  double lines_ns(const SelectionQuery& query, const Stages& stages) const;
  double direct_ns(const SelectionQuery& query, const SelectedPlan& plan, const Kind& kind) const;
  double grouped_ns(const SelectionQuery& query, const SelectedPlan& plan, const Kind& kind,
                    const Stages& stages) const;

  std::vector<Kind> kinds_;
  std::vector<GroupLevels> choices_;  ///< The first: none.
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_SELECTION_GROUPS_H_
