#ifndef HYCOLL_TOOLS_COMMAND_TRACING_CALL_SITES_H_
#define HYCOLL_TOOLS_COMMAND_TRACING_CALL_SITES_H_

#include <string>

#include "tools/command/tracing/traces.h"

namespace hycoll::command {

/// Puts names in the place of the runs' call sites: "solve (cg.f90:41)", by addr2line(1), as far as
/// it is installed and the program has line numbers (-g); otherwise the function that the program
/// shows, or "program+0x1234".
void name_call_sites(Traces& traces);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TRACING_CALL_SITES_H_
