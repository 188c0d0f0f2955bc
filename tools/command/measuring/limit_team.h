#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_LIMIT_TEAM_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_LIMIT_TEAM_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "tools/command/line/routine.h"
#include "tools/command/measuring/crew.h"
#include "tools/command/measuring/measurement.h"
#include "tools/measure/memory_limit.h"

namespace hycoll::command {

/// The threads of one process that do what a collective of theirs does to memory, without any
/// coordination but a meeting before and after a block of calls. They use the buffers, the pinning
/// and the checks of those that are measured beside them.
class LimitTeam {
 public:
  /// `crew` is of one process, and outlives the team.
  explicit LimitTeam(Crew& crew);

  /// Whether there are such kernels for the problem.
  static bool serves(const Problem& problem) noexcept;

  /// One thread's part; inputs have `count` elements. Outlived by the team. Requires a problem that
  /// is served.
  std::unique_ptr<Contestant> contestant(measure::LimitKernel kernel, const Problem& problem,
                                         int thread, std::size_t count);

 private:
  class Part;

  Crew& crew_;
  std::vector<const MemberBuffers*> posted_;  // by thread; read between the two meetings of a block
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_LIMIT_TEAM_H_
