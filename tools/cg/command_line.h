#ifndef HYCOLL_TOOLS_CG_COMMAND_LINE_H_
#define HYCOLL_TOOLS_CG_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "tools/application/command_line.h"
#include "tools/cg/reductions.h"
#include "tools/cg/solver.h"
#include "tools/cg/stencil.h"

namespace hycoll::cg {

/// What the user asked for.
struct CommandLine {
  GridSize size{32, 32, 32};
  std::string matrix_path;  ///< Empty: the stencil.
  SolverLimits limits;
  int thread_count = 0;  ///< Per process; 0: choose.
  int repetitions = 5;
  std::vector<ReductionKind> reductions;  ///< Each kind once.
  std::string json_path;                  ///< Empty: none. "-": standard output.
};

using ParsedCommandLine = application::Parsed<CommandLine>;

/// Pure, so that every process comes to the same result.
ParsedCommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace hycoll::cg

#endif  // HYCOLL_TOOLS_CG_COMMAND_LINE_H_
