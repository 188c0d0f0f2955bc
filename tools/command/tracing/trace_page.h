#ifndef HYCOLL_TOOLS_COMMAND_TRACING_TRACE_PAGE_H_
#define HYCOLL_TOOLS_COMMAND_TRACING_TRACE_PAGE_H_

#include <string>

#include "tools/command/tracing/trace_summary.h"
#include "tools/command/tracing/traces.h"

namespace hycoll::command {

/// The summary as one HTML page, with pictures of the call that `chosen` names, or null: of the
/// slowest one of each of the first classes; and beside each its plan.
std::string trace_page(const Traces& traces, const TracedCalls& calls, const TraceSummary& summary,
                       const TracedCall* chosen);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TRACING_TRACE_PAGE_H_
