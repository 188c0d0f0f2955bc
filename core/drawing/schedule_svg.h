#ifndef HYCOLL_CORE_DRAWING_SCHEDULE_SVG_H_
#define HYCOLL_CORE_DRAWING_SCHEDULE_SVG_H_

#include <cstddef>
#include <string>

#include "core/base/partition.h"
#include "core/drawing/schedule_price.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// Workers that a drawing shows at most. Whole nodes are left out beyond, and the drawing says so;
/// the first node is always drawn.
inline constexpr int kMaximumDrawnWorkers = 64;

/// Draws a schedule as a timeline: a self-contained SVG document with a row for each strand,
/// grouped by worker and node. A box is a step that keeps its strand busy; a bar below is a message
/// or a native call under way; arrows are messages (solid) and signals or lines (dashed). A pointer
/// over a box shows what the step does. Messages have the colour of their lane.
///
/// The times are a model, not a measurement: a message takes 1.5 us and 0.1 ns per byte, and 0.2 us
/// to issue; copies and reduces 0.05 us and 0.05 ns per byte read or written; flags 0.03 us. A
/// worker does one step at a time (turns_timeline.h); that messages share links, and workers
/// memory, is left out. Steps too short to be seen are drawn longer, which adds about a quarter to
/// the whole at most. Steps without elements take part like all others.
///
/// Requires a schedule that verify() accepts and a partition of number_count() chunks (packs.h).
std::string to_svg(const Schedule& schedule, const Partition& partition,
                   std::size_t element_size_bytes);

/// The same with the times of a walk through the schedule, in which nothing is drawn longer than it
/// took.
std::string to_svg(const Schedule& schedule, const Partition& partition,
                   std::size_t element_size_bytes, const PricedSchedule& priced,
                   const WalkRecord& record);

}  // namespace hycoll

#endif  // HYCOLL_CORE_DRAWING_SCHEDULE_SVG_H_
