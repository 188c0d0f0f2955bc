#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_BENCH_LAYOUTS_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_BENCH_LAYOUTS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/api/hycoll.h"
#include "numa/topology/topology.h"
#include "tools/command/measuring/measurement.h"
#include "tools/command/measuring/mpi_session.h"
#include "tools/measure/machine_state.h"

namespace hycoll::command {

/// Who the members of a benchmark are.
enum class Layout {
  threads,         ///< The threads of each process: hycoll's Team.
  per_node,        ///< The processes, each with a pool of workers: hycoll's Communicator.
  processes,       ///< The processes, each one worker of its node: the Communicator's other layout.
  processes_heap,  ///< The same, with the members' buffers in the shared heap.
  native,          ///< The processes, through the MPI library's own collective.
};

/// "threads", "per_node", "processes", "processes_heap", "native".
std::string_view name_of(Layout layout);

/// Whether every process is a member, and hycoll's Communicator serves them.
bool has_communicator(Layout layout);

/// Whether the processes are the workers of their node.
bool shares_nodes(Layout layout);

/// The inverse of name_of. Throws Error (invalid_argument), which names the argument and lists the
/// names.
Layout parse_layout(std::string_view argument, std::string_view name);

/// Who is measured in alternation.
enum class Role {
  call,               ///< hycoll's blocking call; in the layout native the MPI library's.
  native,             ///< The MPI library's blocking call, beside hycoll's.
  limit,              ///< A plain kernel with the reads and writes of the collective.
  start,              ///< Of a persistent call: start() alone,
  start_and_wait,     ///< start() and wait(),
  persistent_run,     ///< and run().
  native_persistent,  ///< start and wait of the MPI library's persistent call.
};

/// What a benchmark is about.
enum class Subject {
  call,        ///< Blocking calls, with what they are compared with.
  limit,       ///< The plain kernels alone.
  persistent,  ///< The forms of a persistent call beside the blocking ones, each timed by itself.
};

/// Whether the state of the machine is looked at before and after each size, and sizes during which
/// it changed are measured again, a few times.
enum class Probing { no, yes };

enum class NativeToo { no, yes };
enum class LimitToo { no, yes };

/// From this size of an input on, calls are compared with the limit: memory counts, not latency.
inline constexpr std::size_t kLimitBytes = std::size_t{1} << 20;

struct BenchSettings {
  Subject subject = Subject::call;
  Layout layout = Layout::per_node;
  std::string algorithm = "auto";  ///< A name, "auto", or "all": all that serve the shape.
  std::vector<std::size_t> sizes_bytes;
  MeasurementOptions measurement;
  Bits bits = Bits::same_on_all_members;
  int workers = 0;         ///< Per process; 0: one per core of its share of the machine.
  int lanes = 0;           ///< 0: chosen by hycoll.
  int aggregators = 0;     ///< The last so many processes, which have no members.
  int emulated_nodes = 0;  ///< processes: per machine; 0: one.
  /// Layouts of processes: the MPI library's own in alternation.
  NativeToo native = NativeToo::yes;
  /// threads, in one process, for sums: the limit in alternation, from kLimitBytes on.
  LimitToo limit = LimitToo::yes;
  Probing probing = Probing::yes;
};

/// What is measured next.
struct BenchTask {
  std::size_t size_bytes = 0;
  MeasurementOptions measurement;
};

struct RoleTiming {
  Role role;
  std::string name;
  Timing timing;
};

/// One size of one algorithm.
struct BenchRow {
  BenchTask task;
  std::string algorithm;
  int nodes = 1;
  int members = 1;  ///< Of each node.
  int workers = 1;  ///< Of each node.
  int lanes = 0;    ///< 0 where there are none.
  int segments = 1;
  measure::LatencyInterval latency = {};  ///< Before and after, if it was looked at.
  int repeats = 0;                        ///< How often the state of the machine had changed.
  std::vector<RoleTiming> timings = {};

  /// The timing with the least median of that role; null without any.
  const RoleTiming* fastest(Role role) const;

  /// Whether all results of that role were right.
  bool verified(Role role) const;
  /// Of all roles.
  bool verified() const;
};

struct BenchResult {
  std::vector<BenchRow> rows;
  std::vector<std::string> refusals;  ///< Sizes that were left out, and why.
};

/// What hycoll is told by the settings and the environment, to use that algorithm.
Options hycoll_options(const BenchSettings& settings, const std::string& algorithm);

class Agenda;

/// Runs the benchmark; called by all processes, each bound by itself to its share of the machine.
/// The agenda hears of rows and refusals, which are the result, too. Errors: those of hycoll's
/// Communicator and Team; invalid_argument for a root that is no member.
BenchResult run_bench(const MpiSession& session, const Topology& machine,
                      const BenchSettings& settings, Agenda& agenda);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_BENCH_LAYOUTS_H_
