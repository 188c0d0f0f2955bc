#ifndef HYCOLL_TOOLS_COMMAND_REPRODUCING_REPRODUCTION_REPORT_H_
#define HYCOLL_TOOLS_COMMAND_REPRODUCING_REPRODUCTION_REPORT_H_

#include <string>
#include <vector>

#include "tools/command/line/output.h"
#include "tools/command/reproducing/reproduction.h"

namespace hycoll::command {

/// For people: what can be reproduced, with the papers' numbers, and what cannot.
std::string results_text();
Report results_report();

/// For people: the paper's numbers beside those here, the times, and what was counted.
std::string reproduction_text(const Reproduction& reproduction);

/// A picture: time over size, a line for each curve.
std::string reproduction_picture(const Reproduction& reproduction);

/// For programs: records of claims, times and counted messages; "kind" tells which.
Report reproductions_report(const std::vector<Reproduction>& reproductions);

/// A page of all of them.
std::string reproductions_page(const std::vector<Reproduction>& reproductions);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_REPRODUCING_REPRODUCTION_REPORT_H_
