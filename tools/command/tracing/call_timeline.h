#ifndef HYCOLL_TOOLS_COMMAND_TRACING_CALL_TIMELINE_H_
#define HYCOLL_TOOLS_COMMAND_TRACING_CALL_TIMELINE_H_

#include <string>

#include "tools/command/tracing/trace_summary.h"
#include "tools/command/tracing/traces.h"

namespace hycoll::command {

/// Workers that a picture shows at most.
inline constexpr std::size_t kMostTimelineWorkers = 64;

/// What all workers did in a call, as `hycoll plan --svg` draws what they are expected to do: a row
/// for each strand, a box for each step in the colour of its kind, pale where it waited, and a line
/// where the last member came. A self-contained SVG document.
std::string call_timeline(const Traces& traces, const TracedCall& call);

/// The schedule of such a call, with modelled times, as `hycoll plan --svg` draws it: of as many
/// nodes as hosts, with its algorithm. "" where hosts have different numbers of members, or the
/// algorithm is not one of hycoll's.
std::string planned_timeline(const Traces& traces, const TracedCall& call);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TRACING_CALL_TIMELINE_H_
