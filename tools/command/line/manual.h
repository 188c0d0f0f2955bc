#ifndef HYCOLL_TOOLS_COMMAND_LINE_MANUAL_H_
#define HYCOLL_TOOLS_COMMAND_LINE_MANUAL_H_

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace hycoll::command {

/// A page of the manual.
struct ManualPage {
  std::string file_name;  ///< "hycoll-plan.1"
  std::string text;       ///< In the language of man(7), which roff programs read.
};

/// The page of a command, and those of its subcommands but hidden ones, from what their help is
/// made of. `source` stands below each page, such as "hycoll 0.1.0"; `date` is "2026-01-31".
std::vector<ManualPage> manual_pages(const CLI::App& command, const std::string& source,
                                     const std::string& date);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_LINE_MANUAL_H_
