#ifndef HYCOLL_TOOLS_COMMAND_SIMULATING_SIMULATION_REPORT_H_
#define HYCOLL_TOOLS_COMMAND_SIMULATING_SIMULATION_REPORT_H_

#include <string>
#include <vector>

#include "core/simulation/platform.h"
#include "tools/command/line/output.h"
#include "tools/command/simulating/simulation.h"

namespace hycoll::command {

/// The platform and its prices, in two lines.
std::string platform_lines(const Platform& platform, int host_count);

/// Those, and the call, in some lines.
std::string question_text(const SimulationQuestion& question, const Platform& platform,
                          int host_count);

/// For people: a row for each call, in the order given.
std::string calls_text(const std::vector<SimulatedCall>& calls);

/// For people: what the end of a call waited for, and its hottest links.
std::string details_text(const SimulatedCall& call);

/// For programs: a record for each call, with path and links.
Report simulation_report(const SimulationQuestion& question, const Platform& platform,
                         int host_count, const std::vector<SimulatedCall>& calls);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_SIMULATING_SIMULATION_REPORT_H_
