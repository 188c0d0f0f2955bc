#ifndef HYCOLL_TOOLS_COMMAND_TUNING_TUNING_RUN_H_
#define HYCOLL_TOOLS_COMMAND_TUNING_TUNING_RUN_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collectives/selection/tuning_table.h"
#include "numa/topology/topology.h"
#include "tools/command/line/routine.h"
#include "tools/command/measuring/bench_layouts.h"
#include "tools/command/measuring/mpi_session.h"

namespace hycoll::command {

/// What is to be tuned: for one collective in one layout.
struct TuningTask {
  Routine routine = Routine::allreduce;
  Layout layout = Layout::processes;  ///< processes, per_node or threads.
  int workers = 0;                    ///< As BenchSettings has it.
  int emulated_nodes = 0;             ///< The same.
  std::vector<std::size_t> sizes_bytes;
  double seconds = 10;  ///< After that long, nothing is refined any more.
};

/// One candidate at one size.
struct TunedTime {
  std::string algorithm;
  int lanes = 1;
  double median_us = 0;
  double p95_us = 0;
};

/// What was found at a size.
struct TuningResult {
  TunedShape shape;
  std::size_t size_bytes = 0;
  TunedTime best = {};                      ///< What is to be taken.
  std::optional<TunedTime> runner_up = {};  ///< Of other algorithms.
  TunedTime by_rule = {};                   ///< What `auto` takes.
  std::optional<double> native_us = {};     ///< The MPI library's own; empty for threads.
};

/// Of which calls the task is in this job. Collective where processes have different shares of the
/// machine.
TunedShape shape_of(const MpiSession& session, const Topology& machine, const TuningTask& task);

/// Measures; called by all processes of the job, which get the same. `on_size` hears on rank 0 of
/// each size that is measured. Where `auto` is within 5 % of the best, it is the best: so small
/// differences change nothing. Throws Error as Communicator and Team do.
std::vector<TuningResult> run_tuning(const MpiSession& session, const Topology& machine,
                                     const TuningTask& task,
                                     const std::function<void(std::size_t size_bytes)>& on_size);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TUNING_TUNING_RUN_H_
