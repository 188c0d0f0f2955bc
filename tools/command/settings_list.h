#ifndef HYCOLL_TOOLS_COMMAND_SETTINGS_LIST_H_
#define HYCOLL_TOOLS_COMMAND_SETTINGS_LIST_H_

#include <string>

#include "tools/command/line/output.h"

namespace hycoll::command {

/// All settings with what the environment says, for people; then the variables that are none.
std::string settings_text();

/// The same for machines: a record for each setting, in the order of docs/settings.md, whose texts
/// are Markdown; in the context the variables that are none.
Report settings_report();

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_SETTINGS_LIST_H_
