#ifndef HYCOLL_CORE_DRAWING_CHROME_TRACE_H_
#define HYCOLL_CORE_DRAWING_CHROME_TRACE_H_

#include <cstddef>
#include <string>

#include "core/drawing/schedule_price.h"

namespace hycoll {

/// Nodes that are not the first are left out where a trace would have more events.
inline constexpr std::size_t kMostTraceEvents = 1'000'000;

/// A walk in the trace format that Chrome (chrome://tracing) and Perfetto show: a process for each
/// node, a thread for each of its workers with what it does, and the messages that it receives.
/// Steps that take no time are left out. Requires the record of a walk through the schedule.
std::string chrome_trace(const PricedSchedule& schedule, const WalkRecord& record);

}  // namespace hycoll

#endif  // HYCOLL_CORE_DRAWING_CHROME_TRACE_H_
