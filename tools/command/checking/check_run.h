#ifndef HYCOLL_TOOLS_COMMAND_CHECKING_CHECK_RUN_H_
#define HYCOLL_TOOLS_COMMAND_CHECKING_CHECK_RUN_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/simulation/flow_network.h"
#include "core/simulation/platform.h"
#include "tools/command/checking/check_report.h"
#include "tools/command/measuring/bench_layouts.h"
#include "tools/command/measuring/mpi_session.h"

namespace hycoll::command {

/// Which calls are simulated and measured.
struct CheckQuestion {
  std::vector<Routine> routines;
  std::vector<std::size_t> sizes_bytes;  ///< Of each member's input, without that of a barrier.
  std::string algorithm = "auto";
  int lanes = 0;  ///< As many workers has each process; 0: one worker.
  int root = 0;
  double seconds = 1;  ///< For the timed calls of a size, of which there are 5 at least.
};

/// By rank. Collective.
std::vector<std::string> hosts_of_job(const MpiSession& session);

/// The question's calls, measured on the job: each process is a node. Members meet before each
/// call, which then is alone, with inputs that they have just written. Sizes that are no equal
/// blocks where a collective needs those are rounded down. Returns the same rows on all processes;
/// `on_row` hears of them on the first. Collective. Throws Error, on all processes:
/// invalid_argument for a job of one process, or of processes that do not follow the order of ranks
/// (HYCOLL_TOPOLOGY); and as run_bench.
BenchResult measure_calls(const MpiSession& session, const CheckQuestion& question,
                          const std::function<void(const BenchRow&)>& on_row);

/// Simulates the calls that were measured. `hosts`: by rank, those of the platform that the
/// processes are on. Throws Error as simulate.
CheckResult check_calls(const BenchResult& measured, const std::vector<int>& hosts,
                        const Platform& platform, FlowNetwork& network);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_CHECKING_CHECK_RUN_H_
