#ifndef HYCOLL_COLLECTIVES_PLANS_SELECTION_LANES_H_
#define HYCOLL_COLLECTIVES_PLANS_SELECTION_LANES_H_

#include <cstddef>

#include "collectives/plans/selection.h"

namespace hycoll {

/// What the rules of several collectives share.

/// Several nodes: vectors up to here go through one lane, and through lines inside the nodes.
inline constexpr std::size_t kOneLaneBytes = 4 * 1024;
/// Below this size of a lane the number of steps between nodes counts, not what they carry.
inline constexpr std::size_t kFewStepsBytes = 16 * 1024;
/// From this size of a node's block on, what messages carry counts, not the number of steps.
inline constexpr std::size_t kLongBlockBytes = 64 * 1024;
/// Up to so many nodes every node may send to every other one at once.
inline constexpr std::size_t kMostNodesAtOnce = 16;

/// So many members of a node are in one another's way, as 4 to 16 were where they have been
/// measured (docs/measurements.md, "Sixteen cores").
inline constexpr int kManyMembers = 4;
/// Whether the only node has so many.
bool has_many_members(const SelectionQuery& query);

/// Whether the members of the only node read short vectors through lines: `read_bytes` is what one
/// of them reads there.
bool reads_through_lines(const SelectionQuery& query, std::size_t read_bytes);

/// Whether short vectors go through lines although there are several nodes.
bool leads_through_lines(const SelectionQuery& query);

/// Whether the members of the only node, threads who are far from one another, write straight to
/// others' outputs instead of to staging: what only moves. What all are to have is written once for
/// each, and once only to staging, from which all others read at once: so that is for few members.
bool far_members_put(Collective collective, int members);

/// Whether the root alone writes what it has to all others' outputs, past the caches: others, who
/// are far from it, would read what it has just written, and it would find that in their caches
/// when it writes it again.
bool root_puts(const SelectionQuery& query);

/// A plan for dpml: on one node with a lane per worker, between nodes with as many lanes as are
/// worth it; with one segment. The algorithm is still to be chosen.
SelectedPlan plan_lanes(const SelectionQuery& query);

/// A plan for lines; the algorithm is still to be chosen.
SelectedPlan plan_lines(const SelectionQuery& query);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PLANS_SELECTION_LANES_H_
