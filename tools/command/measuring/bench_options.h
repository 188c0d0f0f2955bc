#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_BENCH_OPTIONS_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_BENCH_OPTIONS_H_

#include <functional>
#include <string>
#include <string_view>

#include "numa/topology/topology.h"
#include "tools/command/line/collective_option.h"
#include "tools/command/line/command_line.h"
#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/measuring/bench_layouts.h"
#include "tools/command/measuring/mpi_session.h"
#include "tools/measure/machine_state.h"

namespace hycoll::command {

/// The options of `hycoll bench` and what is below it. Each adds those that it has.
struct BenchOptions {
  CollectiveOption collective;
  RootOption root;
  std::string layout = "per_node";
  std::string algorithm = "auto";
  std::string sizes = "8:16Mi";
  std::string type = "float";
  std::string op = "sum";
  bool reproducible = false;
  int workers = 0;
  int lanes = 0;
  int aggregators = 0;
  int emulated_nodes = 0;
  int ranks = 0;
  std::string binding = "none";
  std::string preload;
  int rounds = 0;
  double seconds = 0.25;
  bool fresh_inputs = false;
  std::string pace = "back-to-back";
  bool native = true;
  bool limit = true;
  OutputOptions output;

  /// COLLECTIVE, --root, --sizes, --type and --op.
  void add_problem(CommandLine& line);
  /// --workers.
  void add_workers(CommandLine& line);
  enum class Algorithms { one, all };  ///< Whether --algorithm may be "all".
  /// --algorithm, --reproducible, --workers and --lanes.
  void add_choices(CommandLine& line, Algorithms algorithms);
  /// --aggregators.
  void add_aggregators(CommandLine& line);
  /// --preload.
  void add_preload(CommandLine& line);
  /// --ranks and --bind-to.
  void add_ranks(CommandLine& line);
  /// Those, --rounds and --seconds.
  void add_measurement(CommandLine& line);

  /// Everything that can be checked without MPI, so that a bad argument is met before it starts.
  /// Throws Error (invalid_argument).
  BenchSettings settings(Subject subject) const;

 private:
  bool sizes_given_ = false;
};

/// One benchmark on one process: what surrounds the measuring.
class BenchJob {
 public:
  /// Collective; rank 0 measures the machine's state while the other processes sleep. Throws Error
  /// when the options do not fit the job.
  BenchJob(const MpiSession& session, const BenchOptions& options, const BenchSettings& settings);

  const MpiSession& session() const noexcept { return session_; }
  const Topology& machine() const noexcept { return machine_; }
  const BenchOptions& options() const noexcept { return options_; }
  const BenchSettings& settings() const noexcept { return settings_; }
  /// Where text for people goes.
  std::FILE* human() const noexcept { return human_; }

  /// Measures what the settings say; `on_row` is called on rank 0 as the rows come. Throws Error
  /// (unsupported) on all processes if nothing could be measured; others as run_bench.
  BenchResult measure(const std::function<void(const BenchRow&)>& on_row) const;

  /// Collective, when everything is measured: says how the machine was before and after. Returns
  /// the report's context.
  Json finish(std::string_view command);

 private:
  void require_rows(const BenchResult& result) const;
  void check_emulated_nodes() const;
  void warn_if_confined() const;
  measure::MachineState measure_quietly() const;

  const MpiSession& session_;
  const BenchOptions& options_;
  const BenchSettings& settings_;
  std::FILE* human_;
  Topology machine_;
  measure::StateInterval interval_;
};

/// Replaces this program by the ranks that --ranks asks for, each started without that option. Does
/// nothing where it is not given. Throws Error as replace_process does.
void start_ranks(const BenchOptions& options);

/// Runs `body` on every process of the job that this process belongs to, or of one that it starts
/// (--ranks).
ExitStatus run_bench_job(const BenchOptions& options, const BenchSettings& settings,
                         const std::function<ExitStatus(BenchJob&)>& body);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_BENCH_OPTIONS_H_
