#ifndef HYCOLL_COLLECTIVES_SELECTION_LANES_H_
#define HYCOLL_COLLECTIVES_SELECTION_LANES_H_

#include <cstddef>

#include "collectives/selection/selection.h"

namespace hycoll {

/// What the rules of several collectives share.

/// So many members of a node are in one another's way, as 4 to 16 were where they have been
/// measured (docs/measurements.md, "Sixteen cores").
inline constexpr int kManyMembers = 4;
/// Whether the only node has so many.
bool has_many_members(const SelectionQuery& query);

/// Whether the members of the only node read short vectors through lines: `read_bytes` is what one
/// of them reads there.
bool reads_through_lines(const SelectionQuery& query, std::size_t read_bytes);

/// Whether the members of the only node, threads who are far from one another, write straight to
/// others' outputs instead of to staging: what only moves. What all are to have is written once for
/// each, and once only to staging, from which all others read at once: so that is for few members.
bool far_members_put(Collective collective, int members);

/// Whether the root alone writes what it has to all others' outputs, past the caches: others, who
/// are far from it, would read what it has just written, and it would find that in their caches
/// when it writes it again.
bool root_puts(const SelectionQuery& query);

/// One node: a lane per worker, unless others are asked for. Of a member that is alone one: nothing
/// is combined, and waking other workers takes longer than most copies.
int lanes_of_only_node(const SelectionQuery& query);

/// One node: a plan with these lanes, in one segment. The algorithm is still to be chosen.
SelectedPlan plan_lanes(const SelectionQuery& query);

/// A plan for lines; the algorithm is still to be chosen.
SelectedPlan plan_lines(const SelectionQuery& query);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_SELECTION_LANES_H_
