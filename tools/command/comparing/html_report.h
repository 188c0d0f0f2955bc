#ifndef HYCOLL_TOOLS_COMMAND_COMPARING_HTML_REPORT_H_
#define HYCOLL_TOOLS_COMMAND_COMPARING_HTML_REPORT_H_

#include <string>
#include <vector>

#include "tools/command/line/output.h"

namespace hycoll::command {

/// A self-contained HTML page about what `hycoll compare --json` and `hycoll_cg --json` wrote, in
/// the order given. `commit`: hycoll's, if it is known. Throws Error (invalid_argument) for other
/// documents.
std::string html_report(const std::vector<Json>& documents, const std::string& commit);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_COMPARING_HTML_REPORT_H_
