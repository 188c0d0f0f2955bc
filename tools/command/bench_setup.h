#ifndef HYCOLL_TOOLS_COMMAND_BENCH_SETUP_H_
#define HYCOLL_TOOLS_COMMAND_BENCH_SETUP_H_

#include <vector>

#include "tools/command/line/output.h"

namespace hycoll::command {

/// hycoll bench plans --setup: what being set up takes one of so many processes, for every process
/// map there is. Requires a process with one thread. Errors: as OutputOptions::write().
void bench_setup(const std::vector<int>& machine_counts, const std::vector<int>& member_counts,
                 const OutputOptions& output);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_BENCH_SETUP_H_
