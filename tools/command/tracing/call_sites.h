#ifndef HYCOLL_TOOLS_COMMAND_TRACING_CALL_SITES_H_
#define HYCOLL_TOOLS_COMMAND_TRACING_CALL_SITES_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "tools/command/tracing/traces.h"

namespace hycoll::command {

/// A name for each of these call sites, "FILE+0xOFFSET": "solve (cg.f90:41)", by addr2line(1), as
/// far as it is installed and the program has line numbers (-g); otherwise what it was, without the
/// folder.
void look_up_names(std::map<std::string, std::string>& names);

/// Where the code of a process's call is, as look_up_names() takes it. `address`: what the call
/// returns to. "" if the process does not show it.
std::string call_site_in(pid_t process, std::uint64_t address);

/// Puts names in the place of the runs' call sites. Where look_up_names() knows nothing, the
/// function that the program shows.
void name_call_sites(Traces& traces);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TRACING_CALL_SITES_H_
